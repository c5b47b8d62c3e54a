"""The API of a Frontdesk installation.

``Frontdesk`` is the client that the functions of ``frontdesk.api`` take; they are generated from the OpenAPI document, as is ``frontdesk.models``.
This module adds what they have in common: the credential, attempts, errors, lists and signatures.
"""

import asyncio
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import httpx
from standardwebhooks import Webhook

from .client import AuthenticatedClient

__all__ = ("Frontdesk", "FrontdeskError", "each", "edit", "verify")

T = TypeVar("T")


class FrontdeskError(Exception):
    """An answer that is an error, or svc_approval_needed of a call that waits for a person. Programs decide by ``code`` and ``reason``.

    ``fields`` has a sentence for each parameter that is wrong, ``request_id`` finds the call in the logs of the installation, and ``data`` has all
    facts beside the code.
    """

    def __init__(self, status: int, body: Any):
        body = body if isinstance(body, dict) and "code" in body else {}
        self.status = status
        self.code: str = body.get("code", f"http_{status}")
        self.message: str = body.get("message", f"The server answered with {status}.")
        self.data: dict[str, Any] = body.get("data") or {}
        self.reason: str | None = self.data.get("reason")
        self.fields: dict[str, str] = self.data.get("params") or {}
        self.request_id: str | None = self.data.get("request_id")
        super().__init__(f"{self.code}: {self.message}")


class Frontdesk(AuthenticatedClient):
    """An installation, called as one person, or as nobody without ``login``. Errors of the API are raised as ``FrontdeskError``.

    ``url`` is the address of the API with its version, such as https://desk.example.com/v1, and ``key`` an application password of the person.
    A call is sent ``attempts`` times at most, and each attempt takes ``timeout`` seconds at most.
    """

    def __init__(self, url: str, login: str = "", key: str = "", *, attempts: int = 4, timeout: float = 30):
        super().__init__(base_url=url.rstrip("/"), token="")
        self._settings: dict[str, Any] = {"base_url": url.rstrip("/"), "timeout": timeout, "auth": (login, key) if login else None}
        self._attempts = attempts

    def get_httpx_client(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(transport=_Sender(httpx.HTTPTransport(), self._attempts), **self._settings)
        return self._client

    def get_async_httpx_client(self) -> httpx.AsyncClient:
        if self._async_client is None:
            self._async_client = httpx.AsyncClient(transport=_AsyncSender(httpx.AsyncHTTPTransport(), self._attempts), **self._settings)
        return self._async_client


def each(operation: Any, *ids: Any, client: Frontdesk, **filters: Any) -> Iterator[Any]:
    """All records of a list, page by page: ``each(find_contacts, client=desk, search="Ada")``."""
    while True:
        page = operation.sync(*ids, client=client, **filters)
        yield from page.items
        # A feed of events keeps its cursor at the end.
        if not page.next_cursor or not page.items:
            return
        filters["cursor"] = page.next_cursor


def edit(read: Any, write: Any, *ids: Any, client: Frontdesk, change: Callable[[Any], T]) -> Any:
    """Changes a record only as it was read (If-Match): ``write`` is called with the body that ``change`` makes of it.

    If somebody else has changed the record meanwhile, it is read again and ``change`` is asked again, three times at most.
    """
    for attempt in (1, 2, 3):
        seen = read.sync_detailed(*ids, client=client)
        try:
            return write.sync(*ids, client=client, body=change(seen.parsed), if_match=seen.headers["ETag"])
        except FrontdeskError as e:
            if attempt == 3 or e.status != 412:
                raise
    raise AssertionError("not reached")


def verify(secret: str, headers: Mapping[str, str], body: bytes | str) -> dict[str, Any]:
    """The event of a delivery whose signature is right. ``body`` is what arrived, byte by byte. Any other delivery raises."""
    return Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})


# A transport sends a request until it is answered by something else than 429 and 503. A request without an answer is sent again if that does
# nothing twice: a POST has an Idempotency-Key, the same in each attempt; one to /auth/, a DELETE, and what has an If-Match, are sent once.


def _prepare(request: httpx.Request) -> bool:
    """Gives a POST its key, and reports whether the request may be sent again when no answer came."""
    if request.method == "POST":
        request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
    return request.method != "DELETE" and "If-Match" not in request.headers and not re.search("/v1/auth/", request.url.path)


def _pause(attempt: int, response: httpx.Response | None = None) -> float:
    asked = response.headers.get("Retry-After", "") if response else ""
    if asked.isdigit() and int(asked) > 0:
        return min(int(asked), 60)
    return 0.25 * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)


def _waits(response: httpx.Response) -> bool:
    """Whether a person has to approve the call before it is done."""
    return response.status_code == 202 and "/v1/approvals/" in response.headers.get("Location", "")


def _failure(response: httpx.Response) -> FrontdeskError:
    try:
        return FrontdeskError(response.status_code, response.json())
    except ValueError:
        return FrontdeskError(response.status_code, None)


class _Sender(httpx.BaseTransport):
    def __init__(self, transport: httpx.BaseTransport, attempts: int):
        self._transport, self._attempts = transport, attempts

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        repeatable = _prepare(request)
        request.read()
        for attempt in range(1, self._attempts + 1):
            last = attempt == self._attempts
            try:
                response = self._transport.handle_request(request)
            except httpx.TransportError:
                if last or not repeatable:
                    raise
                time.sleep(_pause(attempt))
                continue
            if response.status_code < 400 and not _waits(response):
                return response
            response.read()
            if last or response.status_code not in (429, 503):
                raise _failure(response)
            time.sleep(_pause(attempt, response))
        raise AssertionError("not reached")

    def close(self) -> None:
        self._transport.close()


class _AsyncSender(httpx.AsyncBaseTransport):
    def __init__(self, transport: httpx.AsyncBaseTransport, attempts: int):
        self._transport, self._attempts = transport, attempts

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        repeatable = _prepare(request)
        await request.aread()
        for attempt in range(1, self._attempts + 1):
            last = attempt == self._attempts
            try:
                response = await self._transport.handle_async_request(request)
            except httpx.TransportError:
                if last or not repeatable:
                    raise
                await asyncio.sleep(_pause(attempt))
                continue
            if response.status_code < 400 and not _waits(response):
                return response
            await response.aread()
            if last or response.status_code not in (429, 503):
                raise _failure(response)
            await asyncio.sleep(_pause(attempt, response))
        raise AssertionError("not reached")

    async def aclose(self) -> None:
        await self._transport.aclose()
