import enum


class WeightsEnum(enum.Enum):
    DEFAULT = "https://example.org/weights.pth"

    def get_state_dict(self, *args, **kwargs):
        raise OSError("no network")
