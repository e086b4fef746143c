"""Arguments that are given otherwise than they are meant are refused before anything is sent."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from platform_quantum import InvalidProblemError, PlatformQuantumProvider
from platform_quantum.arguments import read_seconds, read_tags
from platform_quantum.credentials import find_credentials, parse_endpoint
from platform_quantum.estimate import write_amount
from platform_quantum.job_options import take_job_options

from .conftest import TOKEN

if TYPE_CHECKING:
    from platform_quantum.api import QuantumApi

    from .support.scripted_server import ScriptedServer


@pytest.mark.parametrize("name", ["access_token", "organization_id", "endpoint"])
@pytest.mark.parametrize("value", [b"secret-of-mine", 5, ["secret-of-mine"]])
def test_credentials_of_another_type_are_refused_and_not_told(name: str, value: Any) -> None:
    given = {"access_token": TOKEN, name: value}
    with pytest.raises(InvalidProblemError, match=f"{name} must be a text") as raised:
        find_credentials(**given)
    assert "secret-of-mine" not in str(raised.value)


@pytest.mark.parametrize("organisation", ["my\norganisation", "Zürich"])
def test_an_organisation_that_cannot_be_sent_is_refused(organisation: str) -> None:
    with pytest.raises(InvalidProblemError, match="organisation"):
        PlatformQuantumProvider(TOKEN, organisation)


@pytest.mark.parametrize(
    "text",
    [
        "localhost:8090",
        "ftp://example.org",
        "http://a:b",
        "http://localhost/a b",
        "http://localhost/ä",
        f"http://{'a' * 64}.org",
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_refused(text: str) -> None:
    with pytest.raises(InvalidProblemError, match="https://platform"):
        parse_endpoint(text)


@pytest.mark.parametrize("key", [5, "a\nb", "€", b"key"])
def test_a_key_that_no_header_can_have_is_refused(key: Any) -> None:
    with pytest.raises(InvalidProblemError, match="idempotency_key"):
        take_job_options({"idempotency_key": key})


def test_tags_that_are_no_list_are_refused() -> None:
    with pytest.raises(InvalidProblemError, match="tags must be a list"):
        read_tags(5)  # type: ignore[arg-type]


def test_half_a_surrogate_pair_is_not_sent(server: ScriptedServer, api: QuantumApi) -> None:
    with pytest.raises(InvalidProblemError):
        api.get_backend("a\ud800")
    with pytest.raises(InvalidProblemError, match="surrogate"):
        api.list_backends("\ud800")
    assert server.asked == []


@pytest.mark.parametrize("amount", ["1e999999999", "1e-999999999", 10**9, "0e999999999", "0.1e-9"])
def test_an_amount_with_more_digits_than_there_are_is_refused_before_it_is_written(
    amount: Any,
) -> None:
    began = time.monotonic()
    with pytest.raises(InvalidProblemError, match="nine digits"):
        write_amount(amount)
    assert time.monotonic() - began < 1
    assert write_amount(Decimal("999999999.999999999")) == "999999999.999999999"


@pytest.mark.parametrize("given", ["5", float("nan"), 1j, [5], Decimal("sNaN")])
def test_a_time_that_is_no_number_is_refused(given: Any) -> None:
    with pytest.raises(InvalidProblemError, match="number of seconds"):
        read_seconds("timeout", given)
    assert read_seconds("timeout", 10**400) == float("inf")
