"""Tests parts of the exporter for exporter_test.py: values that Python reads, torchbenchmark's sources, and images in a text."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import torch

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "cases" / "exporter"
sys.path.insert(0, str(SOURCES))
import archive  # noqa: E402
import exporting  # noqa: E402
import package_dimensions  # noqa: E402
import reads  # noqa: E402
import torchbench_detectors  # noqa: E402
import torchbench_package  # noqa: E402
import torchbench_speech  # noqa: E402
import transformers_inputs  # noqa: E402


@contextlib.contextmanager
def stand_ins():
    """packages/ before others; what was imported from there is forgotten."""
    names = ("torchbenchmark", "torchvision")
    sys.path.insert(0, str(HERE / "packages"))
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] in names}
    try:
        yield
    finally:
        sys.path.remove(str(HERE / "packages"))
        for name in [name for name in sys.modules if name.split(".")[0] in names]:
            del sys.modules[name]
        sys.modules.update(kept)


def exported(name, path):
    environment = dict(os.environ, PYTHONPATH=str(HERE / "packages"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, str(SOURCES / "torchstone_export.py"), name, "-o", str(path)], text=True,
                          capture_output=True, env=environment)
    if done.returncode:
        raise AssertionError(done.stderr)
    return torch.export.load(path)


class Predictor(torch.nn.Module):
    """Has the attributes of detectron2 that limit what is kept."""

    def __init__(self):
        super().__init__()
        self.test_score_thresh, self.test_topk_per_image = 0.05, 100
        self.post_nms_topk = {True: 2000, False: 1000}


class Detectors(unittest.TestCase):
    def test_random_weights_detect_something(self):
        model = torch.nn.Sequential(Predictor())
        torchbench_detectors.keep_few(model, small=False)
        self.assertEqual((model[0].test_score_thresh, model[0].test_topk_per_image), (0.0, 100))

    def test_the_mini_preset_keeps_few_candidates(self):
        model = torch.nn.Sequential(Predictor())
        torchbench_detectors.keep_few(model, small=True)
        self.assertEqual(model[0].test_topk_per_image, 10)
        self.assertEqual(model[0].post_nms_topk, {True: 20, False: 20})

    def test_names_are_upstreams(self):
        lines = (HERE.parent / "coverage" / "upstream_models.txt").read_text().splitlines()
        names = {line.split(": ")[0] for line in lines}
        self.assertEqual(set(torchbench_detectors.MAKERS) - names, set())


class Lengths(unittest.TestCase):
    def test_lengths_are_no_inputs_and_survive_a_cast(self):
        call = lambda self, x: self.model(x) * self.frames[:, None]  # noqa: E731
        model = torchbench_speech.WithLengths(torch.nn.Identity(), call, frames=[3, 2]).double()
        self.assertEqual(model.frames.dtype, torch.int64)
        self.assertEqual(model(torch.ones(2, 1).double()).tolist(), [[3.0], [2.0]])


class Read(torch.nn.Module):
    def __init__(self, read):
        super().__init__()
        self.read = read

    def forward(self, x, words):
        return x * self.read(x, words)


class Reads(unittest.TestCase):
    def found(self, read):
        subject = types.SimpleNamespace(model=Read(read), args=(torch.randn(4, 5), torch.randint(9, (4,))), kwargs={})
        return exporting.constant_reads(subject)

    def test_a_value_that_is_the_same_for_other_inputs_is_the_model_s(self):
        self.assertEqual(self.found(lambda x, words: x.isnan().any().item()), [("item", False)])
        self.assertEqual(self.found(lambda x, words: int(torch.arange(7).max())), [("__int__", 6)])
        self.assertEqual(self.found(lambda x, words: 1), [])

    def test_a_value_that_depends_on_the_inputs_is_not(self):
        for read in (lambda x, words: x.sum().item(), lambda x, words: 2 if x.sum() > 0 else 1,
                     lambda x, words: words.tolist()[0], lambda x, words: float(x[0, 0])):
            self.assertEqual(self.found(read), [])

    def test_the_export_has_the_value_and_a_second_call_begins_again(self):
        with tempfile.TemporaryDirectory() as folder:
            program = exported("timm:reading", pathlib.Path(folder, "reading.pt2"))
        self.assertNotIn("item", str(program.graph))

    def test_a_check_that_is_left_out_of_an_export_needs_no_value(self):
        def check(x, words):
            return 1 if torch.compiler.is_exporting() or not x.isnan().any() else 2
        subject = types.SimpleNamespace(model=Read(check), args=(torch.randn(4, 5), torch.randint(9, (4,))), kwargs={})
        self.assertEqual(exporting.constant_reads(subject), [("__bool__", False)])
        self.assertFalse(reads.has_reads(exporting.exported(subject)))

    def test_another_read_than_the_known_ones_is_an_error(self):
        model = Read(lambda x, words: words.max().item())
        with self.assertRaisesRegex(RuntimeError, r"read different values \(item, number 1\)"):
            with reads.Replayer(model, [("__int__", 1)]):
                torch.export.export(model, (torch.randn(4, 5), torch.randint(9, (4,))), strict=False)
        with self.assertRaisesRegex(RuntimeError, "reads 1 of the 2 values that a call reads"):
            with reads.Replayer(model, [("item", 1), ("item", 1)]):
                torch.export.export(model, (torch.randn(4, 5), torch.randint(9, (4,))), strict=False)

    def test_complex_weights_keep_their_imaginary_part(self):
        model = torch.nn.Linear(1, 1)
        model.register_buffer("turn", torch.tensor([1j]))
        subject = types.SimpleNamespace(model=model, args=(torch.tensor([2j]),), kwargs={})
        archive.prepare(subject, types.SimpleNamespace(weights=None, dtype="bfloat16"))
        self.assertEqual(model.turn.tolist(), [1j])
        self.assertEqual(model.weight.dtype, torch.bfloat16)
        self.assertEqual(subject.args[0].tolist(), [2j])

    def test_a_weight_whose_elements_share_memory_is_stored_as_others(self):
        model = torch.nn.Linear(3, 3)
        model.register_buffer("grid", torch.ones(1).expand(5))
        archive.spread(model)
        model.grid[0] = 2
        self.assertEqual(model.grid.tolist(), [2, 1, 1, 1, 1])

    def test_outputs_whose_shape_is_random_are_random_outputs(self):
        class Random(torch.nn.Module):
            def forward(self, x):
                return x[torch.rand(100) < 0.3]
        subject = types.SimpleNamespace(model=Random(), args=(torch.arange(100.0),), kwargs={})
        self.assertIsNone(archive.eager_outputs(subject))

    def test_state_that_a_call_changed_is_put_back_and_what_it_made_stays(self):
        model = torch.nn.BatchNorm1d(3)
        state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        model(torch.randn(4, 3))
        model.register_buffer("grid", torch.ones(1).expand(5))
        exporting.put_back(model, state)
        self.assertEqual(model.running_mean.tolist(), [0, 0, 0])
        self.assertEqual(model.grid.shape, (5,))


class Parts(unittest.TestCase):
    def test_a_network_is_made_from_its_own_files_where_the_folder_asks_for_data(self):
        with tempfile.TemporaryDirectory() as folder:
            program = exported("upstream:drq", pathlib.Path(folder, "drq.pt2"))
        self.assertEqual([tuple(t.shape) for t in program.example_inputs[0]], [(1, 9, 84, 84)])
        self.assertEqual(list(program.state_dict), ["actor.trunk.weight", "actor.trunk.bias"])

    def test_a_folder_as_a_whole_says_what_it_asks_for(self):
        with stand_ins():
            with self.assertRaisesRegex(RuntimeError, "recorded observations are missing"):
                torchbench_package.whole("drq")
            with self.assertRaisesRegex(ModuleNotFoundError, "torchbenchmark has no folder absent"):
                torchbench_package.part("absent", "model")

    def test_weights_of_torchvision_are_not_downloaded_and_others_are_loaded(self):
        with stand_ins():
            from torchvision.models._api import WeightsEnum
            model, state = torch.nn.Linear(2, 1), {"weight": torch.ones(1, 2), "bias": torch.ones(1)}
            with torchbench_package.without_weights():
                before = model.weight.tolist()
                model.load_state_dict(WeightsEnum.DEFAULT.get_state_dict(progress=True))
                self.assertEqual(model.weight.tolist(), before)
                model.load_state_dict(state)
            self.assertEqual(model.weight.tolist(), [[1, 1]])
            with self.assertRaisesRegex(OSError, "no network"):
                WeightsEnum.DEFAULT.get_state_dict()


class Images(unittest.TestCase):
    def test_an_image_in_a_text_takes_one_place_for_each_patch(self):
        config = types.SimpleNamespace(image_token_index=9, vision_config=types.SimpleNamespace(image_size=4, patch_size=2))
        arguments = {"pixel_values": torch.zeros(1, 3, 4, 4), "input_ids": torch.tensor([[1, 9, 2]])}
        transformers_inputs.place_image(arguments, config)
        self.assertEqual(arguments["input_ids"].tolist(), [[1, 9, 9, 9, 9, 0, 2]])
        text = {"input_ids": torch.tensor([[1, 9, 2]])}
        transformers_inputs.place_image(text, config)
        self.assertEqual(text["input_ids"].tolist(), [[1, 9, 2]])


class Dimensions(unittest.TestCase):
    """Dimensions of Python subjects of packages."""

    def text(self, preset="mini", size=32, name="NetForMaskedLM", padding=None, arguments=(), **configuration):
        model = type(name, (torch.nn.Module,), {})()
        model.config = types.SimpleNamespace(**configuration)
        model.position_embeddings = torch.nn.Embedding(8, 2, padding_idx=padding)
        arguments = dict(arguments) or {"input_ids": torch.ones(2, size), "labels": torch.ones(2, size)}
        return package_dimensions.of_text(model, arguments, preset)

    def lengths(self, **given):
        found = self.text(**given)["length"]
        return found["minimum"], found["maximum"]

    def test_a_text_ends_where_its_positions_end(self):
        self.assertEqual(self.text(max_position_embeddings=128),
                         {"length": {"axes": {"input_ids": 1, "labels": 1}, "minimum": 1, "maximum": 128}})
        self.assertEqual(self.lengths(), (1, 128))  # relative positions
        self.assertEqual(self.lengths(n_positions=100), (1, 100))
        self.assertEqual(self.lengths(max_position_embeddings=128, padding=1), (1, 126))
        self.assertEqual(self.lengths(preset="full", size=512, max_position_embeddings=4096), (1, 1024))
        nested = types.SimpleNamespace(max_position_embeddings=48)
        self.assertEqual(self.lengths(text_config=nested), (1, 48))

    def test_a_causal_loss_needs_two_words(self):
        self.assertEqual(self.lengths(name="NetForCausalLM"), (2, 128))

    def test_a_question_keeps_its_answer(self):
        answer = {"input_ids": torch.ones(2, 32), "start_positions": torch.tensor([4, 1]), "end_positions": torch.tensor([9, 31])}
        self.assertEqual(self.lengths(name="NetForQuestionAnswering", arguments=answer), (10, 128))

    def test_a_decoder_has_its_own_limit(self):
        self.assertEqual(self.lengths(arguments={"decoder_input_ids": torch.ones(2, 8)}, max_target_positions=20), (1, 20))
        self.assertEqual(self.lengths(arguments={"input_ids": torch.ones(2, 8)}, max_target_positions=20), (1, 32))

    def test_texts_of_different_lengths_or_with_an_image_do_not_vary(self):
        unequal = {"input_ids": torch.ones(2, 8), "decoder_input_ids": torch.ones(2, 9)}
        self.assertEqual(self.text(arguments=unequal), {})
        self.assertEqual(self.text(image_token_index=3), {})
        self.assertEqual(self.text(arguments={"pixel_values": torch.ones(2, 3, 8, 8)}), {})

    def test_images_vary_in_steps_if_their_size_allows_it(self):
        found = package_dimensions.of_image({0: torch.ones(2, 3, 96, 299)}, smallest=75)
        self.assertEqual(found, {"height": {"axes": {0: -2}, "minimum": 96, "maximum": 160, "step": 32},
                                 "width": {"axes": {0: -1}, "minimum": 235, "maximum": 363, "step": 1}})
        self.assertEqual(package_dimensions.of_image({0: torch.ones(1, 3, 96, 96)})["height"]["minimum"], 64)

    def test_a_sound_keeps_the_windows_of_its_first_layers(self):
        self.assertEqual(package_dimensions.of_sound({"input_values": torch.ones(2, 2000), "labels": torch.ones(2)}),
                         {"length": {"axes": {"input_values": 1}, "minimum": 1000, "maximum": 4000}})
        self.assertEqual(package_dimensions.of_sound({"input_values": torch.ones(2, 2000), "labels": torch.ones(2, 9)}), {})
        self.assertEqual(package_dimensions.of_sound({"input_ids": torch.ones(2, 9)}), {})
