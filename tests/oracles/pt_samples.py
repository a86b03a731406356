"""pt_samples.py FOLDER: writes the .pt files for the tests in tests/unit/models/formats/pickle."""
import collections
import pathlib
import sys
import warnings

import torch


class Thing:
    pass


def values():
    torch.manual_seed(0)
    shared = torch.arange(12, dtype=torch.float32)
    linear = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    attributed = torch.ones(3)
    attributed.note = "kept by Python only"
    names = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
             "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]
    dtypes = {n: torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, n)) for n in names}
    return {
        "dtypes": dtypes,
        "state_dict": linear.state_dict(),
        "parameter": torch.nn.Parameter(torch.full((2,), 7.0)),
        "shared": [shared, shared.view(3, 4).t(), shared[4:6]],
        "expanded": torch.tensor([5.0]).expand(3, 4),
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
        "conj": torch.tensor([1 + 2j]).conj(),
        "neg": torch.tensor([1 + 2j]).conj().imag,
        "attributed": attributed,
        "sparse": torch.eye(3).to_sparse(),
        "csr": torch.eye(3).to_sparse_csr(),
        "numbers": [1, -5, 300, 70000, 2**40, -(2**62)],
        "doubles": [0.5, float("inf")],
        "mixed": [1, 2.0, "three", None, True, (4, [5]), {"six": 6}],
        "complex": 1 + 2j,
        "integer_keys": collections.OrderedDict([(3, "c"), (1, "a")]),
        "size": torch.Size([2, 3]),
        "dtype": torch.bfloat16,
        "layout": torch.strided,
        "device": torch.device("cuda:1"),
        "text": "snow: \u2744",
        "nothing": (),
    }


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.save(values(), folder / "values.pt")
    torch.save(values(), folder / "values_protocol5.pt", pickle_protocol=5)
    torch.save([torch.ones(3)], folder / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save({"thing": Thing()}, folder / "class.pt")
    torch.save({"keys": {1: 2, "a": 3}}, folder / "mixed_keys.pt")
    torch.save({"set": {1, 2}}, folder / "set.pt")
    cyclic = [1]
    cyclic.append(cyclic)
    torch.save(cyclic, folder / "cyclic.pt")
    doubling = [0]
    for _ in range(40):
        doubling = [doubling, doubling]
    torch.save(doubling, folder / "doubling.pt")
    deep = []
    for _ in range(300):
        deep = [deep]
    torch.save(deep, folder / "deep.pt")
    torch.save(2**80, folder / "long.pt")
    torch.jit.script(torch.nn.ReLU()).save(str(folder / "script.pt"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
