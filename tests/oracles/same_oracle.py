"""Writes random pairs of outputs, each with the verdict of torch._dynamo.utils.same.

    same_oracle.py OUT.pt [--count 600] [--seed 0]

OUT.pt contains {"torch": version, "cases": [{"kind", "ref", "res", "fp64", "options", "same"}, ...]}. An exception in
`same` counts as "different", as in upstream's harness. Large tensors repeat a few numbers to keep the file small.
"""
import argparse
import logging
import random
import warnings

import torch
from torch._dynamo.utils import same

FLOATS = [torch.float32, torch.float32, torch.float16, torch.bfloat16, torch.float64]
SHAPES = [(), (1,), (3,), (10,), (11,), (2, 5), (0,), (50, 10), (167, 3), (37, 27), (100, 10), (143, 7), (16, 4, 1, 1),
          (200, 6, 1, 1), (300, 4), (1200, 1, 1, 1)]


def base(shape):
    """Returns random numbers. Those of large tensors repeat along the first dimension."""
    if len(shape) < 2 or shape[0] < 16:
        return torch.randn(shape, dtype=torch.float64)
    return torch.randn((1, *shape[1:]), dtype=torch.float64).expand(shape)


def compact(change, *tensors):
    """Applies `change` to tensors of one shape. If all are expanded, changes only the elements that they store."""
    shape = tensors[0].shape
    if len(shape) and shape[0] > 1 and all(t.stride(0) == 0 for t in tensors):
        return change(*(t[:1] for t in tensors)).expand(shape)
    return change(*tensors)


def noise(shape, scale):
    if random.random() < 0.5:
        return compact(lambda t: t * scale, base(shape))
    return torch.full((), scale, dtype=torch.float64).expand(shape)


def poke(tensor, value):
    def change(t):
        t = t.clone(memory_format=torch.contiguous_format)
        if t.numel():
            t.view(-1)[random.randrange(t.numel())] = value
        return t
    return compact(change, tensor)


def float_case():
    tol = random.choice([0.0, 1e-4, 1e-4, 1e-3, 1e-2, 2e-2, 8e-2])
    shape = random.choice(SHAPES)
    dtype = random.choice(FLOATS)
    size = random.choice([1e-3, 1.0, 1.0, 100.0])
    exact = compact(lambda t: t * size, base(shape))
    unit = max(tol, 1e-5)
    reference_error = unit * random.choice([0, 0.01, 0.3, 1, 3])
    result_error = random.choice([reference_error * random.uniform(0.5, 12), unit * random.choice([0, 0.09, 0.11, 1, 5])])
    narrow = lambda t: compact(lambda a, b: (a + b).to(dtype), exact, t)
    ref = narrow(noise(shape, reference_error))
    res = narrow(noise(shape, result_error))
    for value in (float("nan"), float("inf"), -float("inf")):
        if random.random() < 0.12:
            which = random.choice(["ref", "res", "fp64", "ref+res", "ref+fp64", "all"])
            state = random.getstate()
            if which in ("ref", "ref+res", "ref+fp64", "all"):
                ref = poke(ref, value)
            if which != "all":
                random.setstate(state) if random.random() < 0.8 else None
            else:
                random.setstate(state)
            if which in ("res", "ref+res", "all"):
                res = poke(res, value)
            if which in ("fp64", "ref+fp64", "all"):
                exact = poke(exact, value)
    fp64 = random.choice([exact, exact, exact, None])
    if random.random() < 0.05:
        res = compact(lambda t: t.to(random.choice([torch.float16, torch.float64])), res)
    if random.random() < 0.05:
        res = res.unsqueeze(0)
    if random.random() < 0.03 and res.numel():
        res = res.reshape(-1)[:1].clone()
    return ref, res, fp64, tol


def rescue_case():
    """Returns a reference with NaN, and a result without it that is close to the float64 run or not."""
    ref, res, _, tol = float_case()
    exact = compact(lambda t: t.nan_to_num(0.5, 1, 1).double(), res)
    res = compact(lambda t: t.nan_to_num(0.5, 1, 1), res)
    res = compact(lambda t: t + random.choice([0, 0.03, 0.05, 0.2]), res)
    ref = poke(res, float("nan"))
    return ref, res, exact, tol


def integer_case():
    dtype = random.choice([torch.int64, torch.int32, torch.uint8, torch.int8])
    ref = torch.randint(0, random.choice([3, 100]), random.choice([(), (4,), (2, 3)])).to(dtype)
    res = ref.clone() + random.choice([0, 0, 1]) * torch.randint(0, 2, ref.shape).to(dtype)
    fp64 = random.choice([None, ref, ref.double()])
    return ref, res, fp64, random.choice([0.0, 1e-4, 1e-2, 8e-2])


def boolean_case():
    ref = torch.rand(random.choice([(), (8,), (5, 10), (0,)])) < random.choice([0.0, 0.2, 0.9])
    res = ref ^ (torch.rand(ref.shape) < random.choice([0.0, 0.02, 0.2]))
    return ref, res, random.choice([None, ref]), random.choice([0.0, 1e-4, 0.5, 0.6])


def complex_case():
    exact = torch.randn(random.choice([(), (4,), (3, 2)]), dtype=torch.complex128)
    ref = exact.to(torch.complex64)
    res = (exact + random.choice([0, 1e-6, 1e-3, 1e-2j])).to(torch.complex64)
    return ref, res, random.choice([None, exact]), random.choice([1e-4, 1e-2])


def sparse_case():
    dense = torch.randn(3, 4) * (torch.rand(3, 4) < 0.5)
    res = (dense + random.choice([0, 1e-6, 1e-2]) * (dense != 0)).to_sparse()
    return dense.to_sparse(), random.choice([res, res, res.to_dense()]), random.choice([None, dense.double()]), 1e-4


def leaf_case():
    one = random.choice([1, 2, True, False, None, "a", "b", 1.0, 1.5, torch.device("cpu"), torch.device("meta")])
    other = random.choice([one, one, one, 1, 1.0, True, 0, None, "a", 1.5 + 1e-6, torch.device("cpu"), torch.tensor(1.0)])
    if isinstance(one, (int, bool)) and isinstance(other, torch.Tensor):
        other = one  # otherwise Python would compare with Tensor.__eq__, which returns a tensor instead of a verdict
    return one, other, None, random.choice([0.0, 1e-4])


LEAVES = [float_case, float_case, float_case, rescue_case, integer_case, boolean_case, complex_case, sparse_case, leaf_case]


def tree_case():
    """Returns lists, tuples or dicts of other cases, sometimes with missing elements."""
    tol = random.choice([1e-4, 1e-2])
    parts = [random.choice(LEAVES)()[:3] for _ in range(random.randrange(0, 4))]
    make = random.choice(["list", "tuple", "dict", "int dict", "mixed", "nested"])
    columns = [[part[i] for part in parts] for i in range(3)]
    if random.random() < 0.3:
        columns[2] = None
    if random.random() < 0.5:
        columns[1] = list(columns[0])
    if random.random() < 0.15 and columns[1]:
        columns[1] = columns[1][:-1]
    if make == "nested":
        wrap = lambda c, i: {"outer": [c, {"inner": tuple(c)}], "last": None}
    elif make == "dict":
        wrap = lambda c, i: {f"k{9 - n}": v for n, v in enumerate(c)}
    elif make == "int dict":
        wrap = lambda c, i: {20 - 9 * n: v for n, v in enumerate(c)}
    elif make == "mixed":
        wrap = lambda c, i: tuple(c) if i == 1 else c
    else:
        wrap = lambda c, i: {"list": list, "tuple": tuple}[make](c)
    wrapped = [None if c is None else wrap(c, i) for i, c in enumerate(columns)]
    if random.random() < 0.1:
        wrapped[1] = random.choice([None, 1, "a", {"k9": 1}, [1]])
    return *wrapped, tol


def options():
    return {
        "cosine": random.random() < 0.15,
        "equal_nan": random.random() < 0.6,
        "exact_dtype": random.random() < 0.9,
        "larger_multiplier": random.random() < 0.3,
        "force_max_multiplier": random.random() < 0.1,
        "iou_threshold": random.choice([None, None, 0.9, 0.99, 1.0]),
    }


def broadcasting_allclose(allclose):
    """Broadcasts both tensors. torch 2.11 does not accept a second tensor with more dimensions than the first."""
    return lambda first, second, *args, **options: allclose(*torch.broadcast_tensors(first, second), *args, **options)


def verdict(ref, res, fp64, tol, o):
    try:
        return bool(same(
            ref, res, fp64, cos_similarity=o["cosine"], tol=tol, equal_nan=o["equal_nan"], exact_dtype=o["exact_dtype"],
            log_error=lambda *args, **kwargs: None,
            use_larger_multiplier_for_smaller_tensor=o["larger_multiplier"],
            force_max_multiplier=o["force_max_multiplier"], use_iou_for_bool=o["iou_threshold"] is not None,
            iou_threshold=0.99 if o["iou_threshold"] is None else o["iou_threshold"]))
    except Exception:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.allclose = broadcasting_allclose(torch.allclose)
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    cases = []
    for _ in range(arguments.count):
        generate = random.choice([*LEAVES, tree_case, tree_case])
        ref, res, fp64, tol = generate()
        o = {**options(), "tolerance": tol}
        cases.append({"kind": generate.__name__, "ref": ref, "res": res, "fp64": fp64, "options": o,
                      "same": verdict(ref, res, fp64, tol, o)})
    torch.save({"torch": str(torch.__version__), "cases": cases}, arguments.out)


if __name__ == "__main__":
    main()
