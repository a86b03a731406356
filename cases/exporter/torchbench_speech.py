"""Makes speech_transformer, tacotron2 and torchrec_dlrm of pytorch/benchmark, whose folders require recordings, CUDA or a process
group. The networks come from the folder's own files or from torchrec, with upstream's sizes and random inputs."""
import types

import torch

import torchbench_package as package
from subject import Subject, batch_size


class WithLengths(torch.nn.Module):
    """A network with fixed sequence lengths, which are buffers. Its inputs are only the feature and token tensors."""

    def __init__(self, model, call, **lengths):
        super().__init__()
        self.model, self.call = model, call
        for name, value in lengths.items():
            self.register_buffer(name, torch.tensor(value))

    def forward(self, *inputs):
        return self.call(self, *inputs)


def speech_transformer(options):
    """Makes speech_transformer. Each utterance has another number of frames."""
    folder = "speech_transformer.transformer."
    encoder = package.part("speech_transformer", folder + "encoder").Encoder
    decoder = package.part("speech_transformer", folder + "decoder").Decoder
    model = package.part("speech_transformer", folder + "transformer").Transformer
    small = options.preset == "mini"
    words, layers, heads, key, width, inner = (1000, 2, 4, 16, 64, 128) if small else (4233, 6, 8, 64, 512, 2048)
    network = model(encoder(320, layers, heads, key, key, width, inner),
                    decoder(words - 2, words - 1, words, width, layers, heads, key, key, width, inner))
    batch, frames, length = batch_size(options, 2, 32), 32 if small else 512, 8 if small else 32
    frames_of = [frames - index for index in range(batch)]
    call = lambda self, features, targets: self.model(features, self.frames, targets)  # noqa: E731
    return Subject(WithLengths(network, call, frames=frames_of), (torch.randn(batch, frames, 320),
                                                                  torch.randint(words - 2, (batch, length))))


def tacotron2(options):
    """Makes tacotron2. Each text and each spectrogram has its own length; longer ones come first."""
    small = options.preset == "mini"
    width, inner, key = (64, 64, 16) if small else (512, 1024, 128)
    sizes = dict(mask_padding=True, fp16_run=False, n_mel_channels=80, n_frames_per_step=1, n_symbols=148,
                 symbols_embedding_dim=width, encoder_kernel_size=5, encoder_n_convolutions=3, encoder_embedding_dim=width,
                 decoder_rnn_dim=inner, prenet_dim=inner // 4, max_decoder_steps=1000, gate_threshold=0.5,
                 p_attention_dropout=0.1, p_decoder_dropout=0.1, attention_rnn_dim=inner, attention_dim=key,
                 attention_location_n_filters=32, attention_location_kernel_size=31, postnet_embedding_dim=width,
                 postnet_kernel_size=5, postnet_n_convolutions=5)
    model = package.part("tacotron2", "model").Tacotron2(types.SimpleNamespace(**sizes))
    batch, letters, frames = batch_size(options, 2, 64), 16 if small else 160, 6 if small else 800
    lengths = {"letters": [max(1, letters - index) for index in range(batch)],
               "frames": [max(1, frames - index) for index in range(batch)]}
    call = lambda self, text, mels: self.model((text, self.letters, mels, letters, self.frames))  # noqa: E731
    return Subject(WithLengths(model, call, **lengths), (torch.randint(148, (batch, letters)), torch.randn(batch, 80, frames)))


def torchrec_dlrm(options):
    """Makes torchrec_dlrm. Each sample has one value of each feature, as in upstream's random batch."""
    from torchrec import EmbeddingBagCollection, KeyedJaggedTensor
    from torchrec.datasets.criteo import DEFAULT_CAT_NAMES, DEFAULT_INT_NAMES
    from torchrec.datasets.utils import Batch
    from torchrec.models.dlrm import DLRM_DCN, DLRMTrain
    from torchrec.modules.embedding_configs import EmbeddingBagConfig
    small = options.preset == "mini"
    rows, width = (100, 16) if small else (100000, 64)
    tables = [EmbeddingBagConfig(name=f"t_{name}", embedding_dim=width, num_embeddings=rows, feature_names=[name])
              for name in DEFAULT_CAT_NAMES]
    dense, over = ([32, width], [64, 1]) if small else ([512, 256, width], [512, 512, 256, 1])
    model = DLRMTrain(DLRM_DCN(EmbeddingBagCollection(tables=tables, device=torch.device("cpu")), len(DEFAULT_INT_NAMES), dense,
                               over, dcn_num_layers=3, dcn_low_rank_dim=32 if small else 512))
    batch, names = batch_size(options, 4, 1024), list(DEFAULT_CAT_NAMES)

    def call(self, numbers, values, labels):
        features = KeyedJaggedTensor(keys=names, values=values.reshape(-1), lengths=self.lengths, stride=len(labels))
        loss, (_, logits, _) = self.model(Batch(numbers, features, labels))
        return loss, logits

    inputs = (torch.randn(batch, len(DEFAULT_INT_NAMES)), torch.randint(rows, (len(names), batch)), torch.randint(2, (batch,)))
    return Subject(WithLengths(model, call, lengths=[1] * (len(names) * batch)), inputs, packages=("torchrec", "fbgemm_gpu_cpu"))


MAKERS = {"speech_transformer": speech_transformer, "tacotron2": tacotron2, "torchrec_dlrm": torchrec_dlrm}
