"""torch_geometric's models."""
from .entry import Original


def network(kind, **options):
    def build(full):
        from torch_geometric.nn import models
        return getattr(models, kind)(64, 64, num_layers=3, **options)
    return build


def inputs(full):
    nodes, edges = (10_000, 200_000) if full else (500, 4000)
    return [((nodes, 64), None), ((2, edges), nodes)]


def graph(kind, **options):
    return Original("torch_geometric", network(kind, **options), inputs, batch=1, whole_shapes=True)


ORIGINALS = {
    "basic_gnn_edgecnn": graph("EdgeCNN"),
    "basic_gnn_gat": graph("GAT", heads=8),
    "basic_gnn_gcn": graph("GCN"),
    "basic_gnn_gin": graph("GIN"),
    "basic_gnn_sage": graph("GraphSAGE"),
}
