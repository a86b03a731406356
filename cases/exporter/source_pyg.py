"""Makes models of torch_geometric, on a random graph of upstream's size."""
import torch

from subject import Subject, Unknown

CLASSES = 41


def make(name, options):
    import torch_geometric.nn.models as models
    cls = getattr(models, name, None)
    if cls is None:
        raise Unknown(f"torch_geometric.nn.models has no {name}")
    small = options.preset == "mini"
    nodes, edges, features = (64, 256, 16) if small else (10000, 100000, 602)
    nodes = options.batch_size or nodes
    extra = {"heads": 2} if name == "GAT" else {}
    if name == "PNA":
        extra = {"aggregators": ["mean", "max"], "scalers": ["identity"], "deg": torch.tensor([0, 5, 10, 20])}
    model = cls(features, 64, 1, CLASSES, **extra)
    edge_index = torch.randint(nodes, (2, edges))
    return Subject(model, (torch.randn(nodes, features), edge_index), packages=("torch_geometric",), suite="torchbench")
