"""A Python function as a model: what a caller of the library gives in place of a provider.
Owns how a request becomes the function's arguments, and its slips failures; refuses to know what the function does."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import cast

import msgspec

from skillopt.backends.dialects.chat_turns import message_fields, request_fields
from skillopt.backends.settings import JsonFields, StageSettings, check_stages
from skillopt.domain.chat import ChatRequest, ModelIdentity, Reply
from skillopt.domain.errors import EmptyReplyError, ProviderError, RefusedError, TaskError, UnavailableError
from skillopt.domain.judging import score_said
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage
from skillopt.kernel.boundary import Attributed
from skillopt.kernel.work import Stage

Arguments = Callable[[ChatRequest], Sequence[object]]
Function = Callable[..., object]
_CHARACTERS_A_TOKEN = 4


class FunctionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a function; its name and version are part of every key, so change the version with the function.

    name: What the function is called.
    version: Which state of the function it is; recorded answers are used again only under the same one.
    max_tokens: How long a reply of a function that asks a model may be.
    timeout: The most seconds one call may take.
    stages: What single stages change of this model, such as `{rewrite: {max_tokens: 64000}}`.
    """

    name: str
    version: str
    max_tokens: int = 4096
    timeout: float = 600.0
    stages: dict[Stage, StageSettings] = {}

    def __post_init__(self) -> None:
        check_stages(self.stages, self.__struct_fields__)


class FunctionChat:
    """A Chat that calls a function, plain or async; a plain one runs in a thread of its own.

    Nobody knows how many tokens a function used, so a quarter of the characters is counted, unless it returns a Reply
    that says so itself.
    """

    def __init__(self, function: Function, arguments: Arguments, settings: FunctionSettings, *, threads: int) -> None:
        self._function = function
        self._arguments = arguments
        self._settings = settings
        self._identity = ModelIdentity(backend="function", address=settings.name, model=settings.version)
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="skillopt")
        self._waits = waits(function)

    @classmethod
    def asking(cls, ask: Function, settings: FunctionSettings, *, threads: int = 32) -> FunctionChat:
        """Return a chat over `ask(messages)`; messages are dicts with role and content, as most clients take them.

        Images, tool calls and their results stand in them as in OpenAI's chat completions. Where a request has tools
        or a schema, the function is also given `tools` or `response_format`, in the same form.
        """
        return cls(ask, _messages, settings, threads=threads)

    @classmethod
    def attempting(cls, attempt: Function, settings: FunctionSettings, *, threads: int = 32) -> FunctionChat:
        """Return a chat over `attempt(skill_text, task)`; the task comes without what its answer is measured by."""
        return cls(attempt, _skill_and_task, settings, threads=threads)

    @classmethod
    def grading(cls, grade: Function, settings: FunctionSettings, *, threads: int = 32) -> FunctionChat:
        """Return a chat over `await grade(task, answer)`; a reply is the score, written as JSON."""

        async def graded(task: Task, answer: str) -> str:
            """Ask for the verdict and write it down; one that is none is an error of the function's."""
            said = await cast("Awaitable[object]", grade(task, answer))
            try:
                return msgspec.json.encode(score_said(task, said)).decode()
            except TaskError as error:
                raise ProviderError(error.message, hint=error.hint) from error

        return cls(graded, _task_and_answer, settings, threads=threads)

    @property
    def identity(self) -> ModelIdentity:
        """Who answers: the function by its name and version."""
        return self._identity

    @property
    def timeout(self) -> float:
        """The most seconds a call may take."""
        return self._settings.timeout

    def worst(self, request: ChatRequest) -> Usage:
        """Return one call; its tokens are a guess, so caps on tokens and dollars are refused where functions answer."""
        characters = sum(len(message.content.encode()) for message in request.messages)
        return Usage(calls=1, input_tokens=max(1, characters), output_tokens=request.max_tokens)

    async def send(self, request: ChatRequest) -> Reply:
        """Call the function once; whatever it raises is a ProviderError that says who must act."""
        try:
            async with asyncio.timeout(self._settings.timeout):
                with Attributed(ProviderError, f"The function {self._settings.name}"):
                    said = await self._called(self._arguments(request), self._further(request))
        except TimeoutError as error:
            raise self._silent() from error
        except ProviderError as error:
            if isinstance(error.__cause__, OSError):  # a connection of the function's own that broke
                raise UnavailableError(error.message, hint="It is tried again.") from error.__cause__
            raise
        return self._reply(said, request)

    async def close(self) -> None:
        """Let go of the threads; a call that is still running there is nobody's any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _further(self, request: ChatRequest) -> JsonFields:
        """Return what a request says besides messages, if the function can be told."""
        fields = _plain(request_fields(request))
        unknown = [name for name in fields if not takes(self._function, name)]
        if unknown:
            raise RefusedError(
                f"The function {self._settings.name} takes no {unknown[0]}, and this request has it.",
                hint=f"Give it a parameter called {unknown[0]}, in the form of OpenAI's chat completions.",
            )
        return fields

    async def _called(self, arguments: Sequence[object], further: JsonFields) -> object:
        if self._waits:
            said = self._function(*arguments, **further)
        else:
            call = partial(contextvars.copy_context().run, partial(self._function, *arguments, **further))
            said = await asyncio.get_running_loop().run_in_executor(self._threads, call)
        return await said if inspect.isawaitable(said) else said

    def _reply(self, said: object, request: ChatRequest) -> Reply:
        if isinstance(said, Reply):
            return said
        if not isinstance(said, str):
            raise ProviderError(
                f"The function {self._settings.name} returned a {type(said).__name__}.",
                hint="It must return the text of its answer.",
            )
        if not said.strip():
            raise EmptyReplyError(
                f"The function {self._settings.name} returned an empty text.", hint="Raise an error to say why."
            )
        read = sum(len(message.content) for message in request.messages)
        return Reply(
            text=said,
            model=self._settings.name,
            usage=Usage(
                calls=1,
                input_tokens=max(1, read // _CHARACTERS_A_TOKEN),
                output_tokens=min(request.max_tokens, max(1, len(said) // _CHARACTERS_A_TOKEN)),
            ),
        )

    def _silent(self) -> UnavailableError:
        return UnavailableError(
            f"The function {self._settings.name} gave no answer within {self._settings.timeout:g} s.",
            hint="Give it more time, or end it yourself.",
        )


def waits(function: Function) -> bool:
    """Say whether a function, or an object that is called as one, is async."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def takes(function: Function, name: str) -> bool:
    """Say whether a function has a parameter that can be given by this name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return any(each.kind is each.VAR_KEYWORD or (each.name == name and each.kind in named) for each in parameters)


def _plain(fields: JsonFields) -> JsonFields:
    """Return fields with nothing in them but what JSON has."""
    return msgspec.json.decode(msgspec.json.encode(fields), type=JsonFields) if fields else fields


def _messages(request: ChatRequest) -> Sequence[object]:
    return ([message_fields(message) for message in request.messages],)


def _skill_and_task(request: ChatRequest) -> Sequence[object]:
    skill, task = (message.content for message in request.messages)
    return skill, msgspec.json.decode(task, type=Task)


def _task_and_answer(request: ChatRequest) -> Sequence[object]:
    task, answer = (message.content for message in request.messages)
    return msgspec.json.decode(task, type=Task), answer
