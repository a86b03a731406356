#!/usr/bin/env python3
"""Writes facts.json: the settings of models in upstream's benchmark harness.

    python3 tests/upstream/collect_facts.py --benchmark CLONE --timm-models-yaml FILE > tests/upstream/facts.json

CLONE is pytorch/benchmark. It contains the models and a copy of PyTorch's benchmarks/dynamo, so one commit determines
both. It lacks timm_models.yaml, so FILE is benchmarks/dynamo/timm_models.yaml of pytorch/pytorch at TIMM_COMMIT. Models
that upstream has dropped are taken from EARLIER, the last commit that has them. Batch sizes that metadata.yaml suggests
for specific GPUs are ignored, as upstream ignores them on other GPUs. Image sizes come from timm's pretrained
configurations, by timm's rule for testing and training (timm.data.resolve_data_config, which timm_models.py calls).
Needs PyYAML, and timm in the version that pytorch/benchmark requires.
"""
import argparse
import ast
import importlib
import json
import re
import subprocess
import sys

import yaml

COMMIT = "0e83c440a51cd63464fee34724d01b7c814ce39b"  # 22 August 2026
EARLIER = "643fa3471b186d0395ca9c4881a623a1e1b8b36a"  # 9 July 2024
HARNESS = "userbenchmark/dynamo/dynamobench"
SUITES = ("torchbench", "timm", "huggingface")

TIMM_COMMIT = "1869dff181f490e9e23efcc728dcd07a8a4d5808"

# Entries in pytorch/pytorch that are newer than the commits above.
NEWER = {
    "timm": {"emulate_precision_casts": ["mobilenetv2_100"]},  # named in upstream's test for this list
    "huggingface": {"tolerance.higher_training": ["BertForMaskedLM"]},  # huggingface.yaml 33c040b5
}

# Name in the zoo → upstream's suite and name, if they differ. A model with another size, or another form with the same
# answer, has the facts of upstream's model.
NAMES = {
    "albert_base_v2": ["huggingface", "AlbertForMaskedLM"],
    "convnextv2_nano": ["timm", "convnextv2_nano.fcmae_ft_in22k_in1k"],
    "deit_tiny_patch16_224": ["timm", "deit_tiny_patch16_224.fb_in1k"],
    "llama_decode": ["torchbench", "llama"],
    "llama_prefill": ["torchbench", "llama"],
    "repvgg_a2_deployed": ["timm", "repvgg_a2"],
    "speech_transformer_masked": ["torchbench", "speech_transformer"],
    "vit_base_patch14_dinov2": ["timm", "vit_base_patch14_dinov2.lvd142m"],
}
# Models in these suites that upstream does not have.
OWN = ["basic_gnn_gat", "convmixer_1024_20_ks9_p14", "convnext_tiny", "efficientnet_b0", "gemma3_decode", "gemma3_prefill",
       "gpt_oss_decode", "gpt_oss_prefill", "mamba2_decode", "mamba2_prefill", "mistral_decode", "mistral_prefill",
       "mixer_s16_224", "phi4_mini_decode", "phi4_mini_prefill", "qwen3_5_decode", "qwen3_5_prefill", "qwen3_decode",
       "qwen3_prefill", "sam_vit_base", "sd3_transformer", "stable_diffusion_15_unet", "swin_tiny_patch4_window7_224",
       "t5_decode", "vit_giant_patch14_224", "vit_small_patch16_224", "vovnet39a", "whisper_decode", "whisper_encoder",
       "whisper_tiny", "xcit_nano_12_p8_224"]
# Intentional differences from upstream: model → key → reason. `suite.KEY` is a setting of the model in cases/suites.
OTHERWISE = {
    "pytorch_CycleGAN_and_pix2pix": {
        "skip.all": "broken upstream since 2025; the generator alone runs here",
        "suite.eager_not_deterministic": "ours: the gradient of its reflection padding differs from run to run on a GPU; "
                                         "upstream runs it nowhere"},
    "levit_128": {"suite.optimizer": "SGD in our suite: by rounding alone Adam turns small gradients of it around; upstream has "
                                     "Adam"},
    **{name: {"suite.learning_rate": "Adam steps of 0.01 in a deep network without trained weights make gradients that say "
                                     "nothing; upstream has 0.01"}
       for name in ("pytorch_unet", "resnet152", "resnext50_32x4d", "repvgg_a2_deployed")},
    "convmixer_768_32": {"optimizer": "none in 2024, for a fault of Dynamo; a step can be made here"},
    "hrnet_w18": {"optimizer": "none in 2024, for a fault of Dynamo; a step can be made here"},
    "hf_DistilBert": {"skip.all": "upstream's suite huggingface has another size of it; here both run"},
    "hf_T5": {"skip.all": "upstream's suite huggingface has another size of it; here both run"},
    "llama_decode": {"skip.test.training": "ours has a gradient; upstream's class states no training batch"},
    "llama_prefill": {"skip.test.training": "ours has a gradient; upstream's class states no training batch"},
    "detectron2_maskrcnn_r_50_c4": {
        key: "upstream's list of Detectron2's models has its ten relatives, and lacks it by oversight"
        for key in ("only_training", "detectron2_models", "skip.device.xpu", "skip.test.training")},
    "resnet50_quantized_qat": {"optimizer": "upstream's list has it and phi_1_5 as one text, by a missing comma"},
    "botnet26t_256": {"tolerance.higher_fp16_xpu": "upstream's list still has it, though upstream dropped the model"},
}

# At EARLIER, timm_models.py contained as sets what is in a YAML file today: name of the set → key in the YAML schema.
TIMM_SETS = {
    "BATCH_SIZE_DIVISORS": "batch_size.divisors",
    "REQUIRE_HIGHER_TOLERANCE": "tolerance.higher_training",
    "REQUIRE_HIGHER_TOLERANCE_FP16_XPU": "tolerance.higher_fp16_xpu",
    "REQUIRE_HIGHER_TOLERANCE_AMP": "tolerance.higher_amp",
    "REQUIRE_EVEN_HIGHER_TOLERANCE": "tolerance.even_higher",
    "REQUIRE_EVEN_HIGHER_TOLERANCE_MAX_AUTOTUNE": "tolerance.even_higher_max_autotune",
    "REQUIRE_HIGHER_TOLERANCE_FOR_FREEZING": "tolerance.freezing",
    "SCALED_COMPUTE_LOSS": "scaled_compute_loss",
    "FORCE_AMP_FOR_FP16_BF16_MODELS": "dtype.force_amp_for_fp16_bf16_models",
    "SKIP_ACCURACY_CHECK_AS_EAGER_NON_DETERMINISTIC_MODELS": "accuracy.skip.eager_not_deterministic",
    "REQUIRE_LARGER_MULTIPLIER_FOR_SMALLER_TENSOR": "require_larger_multiplier_for_smaller_tensor",
}
# The same for huggingface.py at EARLIER.
HUGGINGFACE_SETS = {
    "SKIP": "skip.all",
    "BATCH_SIZE_DIVISORS": "batch_size.divisors",
    "SKIP_ACCURACY_CHECK_MODELS": "accuracy.skip.large_models",
    "SKIP_DUE_TO_CONTROL_FLOW": "skip.control_flow",
    "REQUIRE_HIGHER_TOLERANCE_TRAINING": "tolerance.higher_training",
    "REQUIRE_HIGHER_TOLERANCE_MAX_AUTOTUNE_TRAINING": "tolerance.higher_max_autotune_training",
    "REQUIRE_HIGHER_TOLERANCE_INFERENCE": "tolerance.higher_inference",
    "REQUIRE_HIGHER_TOLERANCE_INFERENCE_CPU_ONLY": "tolerance.higher_inference_cpu",
    "SKIP_FOR_CPU": "skip.device.cpu",
    "ONLY_EVAL_MODE": "only_inference",
    "FP32_ONLY_MODELS": "only_fp32",
}


class Clone:
    def __init__(self, folder, commit):
        self.folder, self.commit = folder, commit

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.folder, *arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    def text(self, path):
        return self.git("show", f"{self.commit}:{path}")

    def names_in(self, path):
        return self.git("ls-tree", "--name-only", f"{self.commit}:{path}").split()


def literals(text):
    """Returns the literals that variables are assigned, and for each function the literal collections in its `in`
    tests."""
    named, looked_up = {}, {}
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.Assign) and isinstance(function.targets[0], ast.Name):
            try:
                named[function.targets[0].id] = ast.literal_eval(function.value)
            except (ValueError, TypeError, SyntaxError):
                pass
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                try:
                    looked_up.setdefault(function.name, []).extend(ast.literal_eval(node.comparators[0]))
                except (ValueError, TypeError, SyntaxError):
                    pass
    return named, looked_up


def members(value):
    """Returns model → number from a YAML map to numbers, or from a YAML list, which may be nested. In lists, it is
    1."""
    if isinstance(value, dict):
        return dict(value)
    found = {}
    for item in value or []:
        found.update(members(item) if isinstance(item, list) else {item: 1} if item else {})
    return found


def keyed(node, prefix=""):
    """Returns dotted key → model → number from a policy file."""
    found = {}
    for name, value in (node or {}).items():
        path = prefix + name
        if isinstance(value, dict) and not all(isinstance(v, (int, float)) for v in value.values()):
            found.update(keyed(value, path + "."))
        else:
            found[path] = members(value)
    return found


def sets_in_code(clone, file, keys):
    named, _ = literals(clone.text(f"{HARNESS}/{file}"))
    as_map = lambda value: value if isinstance(value, dict) else sorted(value)
    return {key: members(as_map(named.get(name, ()))) for name, key in keys.items()}


def lists_of(clone, timm_yaml):
    """Returns the harness's lists as suite → key → model → number, and the literals of common.py."""
    suites = {name: keyed(yaml.safe_load(clone.text(f"{HARNESS}/{name}.yaml"))) for name in ("torchbench", "huggingface")}
    suites["huggingface"] = suites["huggingface"] or sets_in_code(clone, "huggingface.py", HUGGINGFACE_SETS)
    suites["timm"] = keyed(timm_yaml) if timm_yaml else sets_in_code(clone, "timm_models.py", TIMM_SETS)
    _, hf = literals(clone.text(f"{HARNESS}/huggingface.py"))
    larger = "use_larger_multiplier_for_smaller_tensor"
    suites["huggingface"]["require_larger_multiplier_for_smaller_tensor"] = members(hf.get(larger))
    common, looked_up = literals(clone.text(f"{HARNESS}/common.py"))
    for suite in SUITES:
        suites[suite]["no_deterministic_algorithms"] = members(looked_up.get("setup_determinism"))
    for suite, keys in NEWER.items():
        for key, names in keys.items():
            suites[suite].setdefault(key, {}).update({name: 1 for name in names})
    return suites, common


def batch_sizes(clone, lists):
    """Returns suite → model → {inference, training, fixed}: the full batch sizes, as in a performance run."""
    found = {suite: {} for suite in SUITES}
    for suite, file, separator in (("timm", "timm_models_list.txt", " "), ("huggingface", "huggingface_models_list.txt", ",")):
        for line in clone.text(f"{HARNESS}/{file}").split("\n"):
            if not line.strip():
                continue
            name, size = (part.strip() for part in line.split(separator))
            size = max(int(size) // lists[suite]["batch_size.divisors"].get(name, 1), 1)
            found[suite][name] = {"inference": size, "training": size}
    tb = lists["torchbench"]
    canaries = [name for name in clone.names_in("torchbenchmark/canary_models") if name in tb["canary_models"]]
    gnn = clone.text("torchbenchmark/util/framework/gnn/model_factory.py").split("class BasicGNNModel")[-1]
    for folder, name in [("models", n) for n in clone.names_in("torchbenchmark/models") if "." not in n] + [("canary_models", n) for n in canaries]:
        text = clone.text(f"torchbenchmark/{folder}/{name}/__init__.py")
        text = gnn if name.startswith("basic_gnn") else text
        size = lambda test: next((int(n) for n in re.findall(rf"^    DEFAULT_{test}_BSIZE = (\d+)", text, re.M)), None)
        fixed = bool(re.search(r"^    ALLOW_CUSTOMIZE_BSIZE = False", text, re.M)) or name in tb["dont_change_batch_size"]
        sizes = {"inference": tb["batch_size.inference"].get(name, size("EVAL")),
                 "training": tb["batch_size.training"].get(name, size("TRAIN"))}
        found["torchbench"][name] = {k: v for k, v in sizes.items() if v} | ({"fixed": True} if fixed else {})
    return found


def timm_version(clone):
    return re.search(r"^timm==(\S+)", clone.text("requirements.txt"), re.M).group(1)


def image_sides(names):
    """Returns timm model → {inference, training}: the side length of its images."""
    timm = importlib.import_module("timm")
    found = {}
    for name in names:
        # Deprecated names are mapped to the current ones.
        config = timm.models.get_pretrained_cfg(timm.models._registry._deprecated_models.get(name, name))
        if config is not None:
            side = lambda size: (size or config.input_size)[-1]
            found[name] = {"inference": side(config.test_input_size), "training": side(None)}
    return found


def optimizer_of(common, model):
    if model in common["CI_SKIP_OPTIMIZER"]:
        return "none"
    return "sgd" if model in common["BENCHMARK_USE_SGD"] or model in common["CI_USE_SGD"] else "adam"


def models_of(clone, timm_yaml=None):
    lists, common = lists_of(clone, timm_yaml)
    models = {suite: {} for suite in SUITES}
    for suite, sizes in batch_sizes(clone, lists).items():
        for model, facts in sizes.items():
            facts["optimizer"] = optimizer_of(common, model)
            if model in common.get("CUDA_INDUCTOR_ACCURACY_USE_SGD", ()):
                facts["optimizer_with_inductor"] = "sgd"
            facts["lists"] = {key: named[model] for key, named in sorted(lists[suite].items()) if model in named}
            models[suite][model] = facts
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--benchmark", required=True, help="a clone of pytorch/benchmark with both commits")
    parser.add_argument("--timm-models-yaml", required=True, help="the file of pytorch/pytorch")
    arguments = parser.parse_args()
    with open(arguments.timm_models_yaml, encoding="utf-8") as file:
        models = models_of(Clone(arguments.benchmark, COMMIT), yaml.safe_load(file))
    earlier = models_of(Clone(arguments.benchmark, EARLIER))
    for suite in SUITES:
        for model, facts in earlier[suite].items():
            models[suite].setdefault(model, facts | {"dropped": True})
    installed, asked = importlib.import_module("timm").__version__, timm_version(Clone(arguments.benchmark, COMMIT))
    if installed != asked:
        sys.exit(f"timm {installed} is installed, pytorch/benchmark asks for {asked}")
    for name, sides in image_sides(models["timm"]).items():
        models["timm"][name]["image_side"] = sides
    lines = []
    for suite in SUITES:
        rows = ",\n".join(f"   {json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(models[suite].items()))
        lines.append(f"  {json.dumps(suite)}: {{\n{rows}\n  }}")
    head = {"repository": "pytorch/benchmark", "commit": COMMIT, "timm_models.yaml": f"pytorch/pytorch {TIMM_COMMIT}",
            "dropped_models_of": EARLIER, "timm": installed, "names": NAMES, "own": OWN,
            "image_sides_of_own": image_sides(OWN), "otherwise": OTHERWISE}
    print(json.dumps(head, indent=1)[:-2] + ',\n "models": {\n' + ",\n".join(lines) + "\n }\n}")


if __name__ == "__main__":
    main()
