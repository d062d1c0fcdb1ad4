"""POLICY: operators that get failure handlers wrong."""

from asyncwait.backends.faulty._gallery import breaks
from asyncwait.reference import ResultHandler
from asyncwait.spec import CallFailed, CallTimedOut, InvalidResult, OperatorError
from asyncwait.toolkit import collect_results, results_despite


@breaks("POLICY-1")
class TellsNobodyOfDeadlines(ResultHandler):
    """Calls the failure handler about errors of calls, but not about deadlines."""

    def decide_despite(self, failure: OperatorError) -> None:
        if isinstance(failure, CallTimedOut):
            raise failure.after(self.attempts)
        super().decide_despite(failure)


@breaks("POLICY-1")
class TellsNobodyOfWrongResults(ResultHandler):
    """Calls the failure handler about raised errors, but not about invalid results."""

    def decide_despite(self, failure: OperatorError) -> None:
        if isinstance(failure, InvalidResult):
            raise failure.after(self.attempts)
        super().decide_despite(failure)


@breaks("POLICY-1")
class AsksWhetherThereWillBeResults(ResultHandler):
    """Calls the failure handler twice: to see whether it handles the failure, and for results."""

    def decide_despite(self, failure: OperatorError) -> None:
        results_despite(failure.after(self.attempts), self.operator.function.failure)
        super().decide_despite(failure)


@breaks("POLICY-2")
class FailsAllTheSame(ResultHandler):
    """Calls the failure handler, and fails whatever the handler returns."""

    def decide_despite(self, failure: OperatorError) -> None:
        results_despite(failure.after(self.attempts), self.operator.function.failure)
        raise failure from failure.__cause__


@breaks("POLICY-2")
class SkipsWhateverWasHandled(ResultHandler):
    """Drops a record whose failure was handled, whatever results the handler returned."""

    def decide_despite(self, failure: OperatorError) -> None:
        results_despite(failure.after(self.attempts), self.operator.function.failure)
        self.decide(())


@breaks("POLICY-3")
class TakesNoneForASkip(ResultHandler):
    """Drops a record if its failure handler returns None."""

    def decide_despite(self, failure: OperatorError) -> None:
        try:
            super().decide_despite(failure)
        except OperatorError as final:
            if final is not failure or self.is_decided or self.operator.function.failure is None:
                raise
            self.decide(())


@breaks("POLICY-4")
class ForgetsWhatItsHandlerRaised(ResultHandler):
    """Fails with the first error if the failure handler raises, and drops the handler's error."""

    def decide_despite(self, failure: OperatorError) -> None:
        try:
            super().decide_despite(failure)
        except OperatorError:
            raise failure from failure.__cause__


@breaks("POLICY-4")
class SkipsWhereItsHandlerBreaks(ResultHandler):
    """Drops a record if its failure handler raises."""

    def decide_despite(self, failure: OperatorError) -> None:
        try:
            super().decide_despite(failure)
        except OperatorError as final:
            if final is failure:
                raise
            self.decide(())


@breaks("POLICY-5")
class AsksAboutWhatIsDecided(ResultHandler):
    """Calls the failure handler about the error of a function that has completed its record."""

    def decide_despite(self, failure: OperatorError) -> None:
        if self.is_decided:
            results_despite(failure.after(self.attempts), self.operator.function.failure)
        super().decide_despite(failure)


@breaks("POLICY-7")
class GivesItsHandlerWhatWasRaised(ResultHandler):
    """Passes the failure handler a plain CallFailed without a cause, whatever has failed."""

    def decide_despite(self, failure: OperatorError) -> None:
        handler = self.operator.function.failure
        given = CallFailed(failure.record, failure.reason, self.attempts)
        results = None if handler is None else handler(self.record.value, given)
        if results is None:
            raise failure.after(self.attempts)
        self.decide(collect_results(self.record, results))


@breaks("POLICY-7")
class TellsItsHandlerThatTimeIsUp(ResultHandler):
    """Passes the failure handler a TimeoutError as the cause at each deadline."""

    def decide_despite(self, failure: OperatorError) -> None:
        cause = failure.__cause__
        if isinstance(failure, CallTimedOut):
            failure.__cause__ = TimeoutError("time is up")
        try:
            super().decide_despite(failure)
        except OperatorError as final:
            raise final from cause if final is failure else final.__cause__


@breaks("POLICY-7")
class TellsItsHandlerOfOneAttempt(ResultHandler):
    """Passes the failure handler an error that counts one attempt, however many failed."""

    def decide_despite(self, failure: OperatorError) -> None:
        attempts, self.attempts = self.attempts, 1
        try:
            super().decide_despite(failure)
        except OperatorError as final:
            raise final.after(attempts) from final.__cause__
        finally:
            self.attempts = attempts
