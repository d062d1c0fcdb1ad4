"""Progress of a running job: its tasks report to the driver, which draws a bar."""

from asyncwait.backends.spark.progress._figures import JobFigures, TaskFigures, TaskName
from asyncwait.backends.spark.progress._progress import Progress
from asyncwait.backends.spark.progress._wire import Endpoint, reporting
from asyncwait.spec.exports import claim_exports

__all__ = ["Endpoint", "JobFigures", "Progress", "TaskFigures", "TaskName", "reporting"]

claim_exports(__name__)
