#!/usr/bin/env python3
"""Writes the small files that test the C++ readers of Python's formats, into the folder of this script."""
import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8}

tensors = {name: torch.arange(6).view(2, 3).to(dtype) for name, dtype in DTYPES.items()}
tensors |= {"BOOL": torch.tensor([True, False, True]), "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 4)}
save_file(tensors, HERE / "safetensors_sample.safetensors", {"format": "pt"})
torch.save((torch.arange(6.0).view(2, 3), torch.arange(2)), HERE / "inputs_sample.pt")
torch.save(torch.nn.Linear(1, 1).state_dict(), HERE / "state_dict_sample.pt")
