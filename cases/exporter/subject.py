"""Defines Subject, the result of a source: a model with its sample inputs."""
import dataclasses
import typing


@dataclasses.dataclass
class Subject:
    model: typing.Any
    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)
    packages: tuple = ()                 # recorded with their versions
    suite: typing.Optional[str] = None   # upstream's suite whose policy fits
    loss: typing.Optional[str] = None    # name of the loss among the outputs
    gradients: bool = False              # gradients stay enabled in inference, because forward computes some
    dynamic: dict = dataclasses.field(default_factory=dict)  # dimensions of a Python subject (package_dimensions.py)


class Unknown(ValueError):
    """Raised for a name that no source has."""


def batch_size(options, mini, full):
    return options.batch_size or (mini if options.preset == "mini" else full)
