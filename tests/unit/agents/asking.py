"""A small agent program that really asks its model: one request over HTTP for each start, and one line of JSON.

Like the programs of the makers it ends with exit code 1 when it has no answer, and tells why in words of its own.
"""

from __future__ import annotations

import msgspec

from skillopt.agents.program import Command, Ended, Heard, Job, Model, Problem
from skillopt.agents.telling.complaints import complaint
from skillopt.agents.telling.tokens import Tokens, usage
from skillopt.domain.usage import Usage
from tests.unit.agents.programs import ScriptedAdapter

ASKS = """
import http.client
from urllib.parse import urlsplit

place = urlsplit(os.environ["BASE_URL"])
said = [{"role": "system", "content": os.environ["SYSTEM"]}, {"role": "user", "content": prompt}]
told = {}
try:
    connection = http.client.HTTPConnection(place.netloc, timeout=float(os.environ["SECONDS"]))
    body = json.dumps({"model": os.environ["MODEL"], "messages": said})
    connection.request("POST", place.path + "/chat/completions", body, {"content-type": "application/json"})
    response = connection.getresponse()
    told["status"] = response.status
    told["retry_after"] = response.headers.get("retry-after")
    reply = json.loads(response.read())
    if "error" in reply:
        told["error"], told["code"] = reply["error"]["message"], reply["error"]["code"]
    else:
        (choice,) = reply["choices"]
        told |= {"text": choice["message"]["content"], "finish": choice["finish_reason"]}
        told |= {"model": reply["model"], "id": reply["id"]}
        told |= {"read": reply["usage"]["prompt_tokens"], "written": reply["usage"]["completion_tokens"]}
except (OSError, http.client.HTTPException, ValueError) as error:
    told["error"] = f"There was no reply to read: {type(error).__name__} {error}"
print(json.dumps(told))
sys.exit(1 if "error" in told else 0)
"""
_ENDED_EARLY = {
    "length": Problem(cause="truncated", message="The model's answer stopped at its output limit."),
    "content_filter": Problem(cause="filtered", message="The model's answer was withheld."),
}


class Told(msgspec.Struct, frozen=True):
    """The line that the program prints."""

    text: str = ""
    finish: str = ""
    model: str = ""
    id: str = ""
    read: int | None = None
    written: int | None = None
    status: int | None = None
    retry_after: str | None = None
    error: str | None = None
    code: str | None = None

    @property
    def problem(self) -> Problem | None:
        """Why there is no answer."""
        if self.error is None:
            return _ENDED_EARLY.get(self.finish)
        return complaint(
            self.error,
            status=self.status,
            details=self.code or "",
            retry_after=None if self.retry_after is None else float(self.retry_after),
            otherwise="unavailable",
        )

    def used(self, model: Model) -> Usage | None:
        """What it took, where the reply told it."""
        if self.read is None or self.written is None:
            return None
        return usage(Tokens(input=self.read, output=self.written), model)


class AskingAdapter(ScriptedAdapter):
    """Speaks for the program."""

    def command(self, job: Job) -> Command:
        """Hand over the address, the model and the time by the environment, and the prompt as input."""
        told = {"BASE_URL": job.model.base_url or "", "MODEL": job.model.name or "", "SECONDS": str(job.seconds)}
        return Command(args=(), env={**told, "SYSTEM": job.system}, stdin=job.prompt.encode())

    def heard(self, ended: Ended) -> Heard:
        """Read the line; a program that left none has crashed."""
        try:
            told = msgspec.json.decode(ended.finished.stdout, type=Told)
        except msgspec.DecodeError:
            words = ended.finished.stderr.decode(errors="replace")
            return Heard(problem=Problem(cause="crashed", message=words or "It said nothing."))
        return Heard(
            text=told.text,
            problem=told.problem,
            usage=told.used(ended.job.model),
            requests=1,
            model=told.model,
            session=told.id,
        )
