"""Live figures of an open operator: a stream of figures, a progress bar, metrics."""

from asyncwait.backends.watching._metrics import export_metrics
from asyncwait.backends.watching._progress import show_progress
from asyncwait.backends.watching._watched import Watched, statistics_of
from asyncwait.spec.exports import claim_exports

__all__ = ["Watched", "export_metrics", "show_progress", "statistics_of"]

claim_exports(__name__)
