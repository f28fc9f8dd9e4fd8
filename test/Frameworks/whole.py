"""What the tests of backend="reprise" share."""
import checks
import torch

import reprise
from reprise.torch import Unsupported


def compiled(model, **options):
    torch._dynamo.reset()
    return torch.compile(model, backend="reprise", options=options)


def error_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001  Dynamo wraps errors of backends
        return str(error)
    return ""


def run_parts(*parts):
    """Runs functions, each of which makes checks; one that an error ends counts as a check that failed."""
    torch.set_num_threads(1)
    for part in parts:
        try:
            part()
        except (reprise.Error, Unsupported, RuntimeError) as error:
            checks.check(part.__name__, False, str(error)[:2000])
    checks.finish()
