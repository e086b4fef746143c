"""Where token, endpoint and organisation come from, and in which order."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import pytest

from platform_quantum import (
    ConfigInvalidError,
    CredentialsNotFound,
    InvalidAccessTokenError,
    PlatformQuantumProvider,
)
from platform_quantum.config_file import find_config_file
from platform_quantum.credentials import find_credentials, parse_endpoint

STORED = {
    "endpoint": "https://stored.example.org/api",
    "personalAccessToken": "stored-token",
    "context": {"id": "stored-org", "name": "Stored"},
}


def store(folder: Path, content: object = STORED) -> Path:
    folder.mkdir(parents=True)
    file = folder / "config.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


def test_the_constructor_wins_over_all_others(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(config_folder)
    monkeypatch.setenv("PLATFORM_SERVICE_EXECUTION_TOKEN", "execution-token")
    monkeypatch.setenv("PLATFORM_PERSONAL_ACCESS_TOKEN", "personal-token")
    monkeypatch.setenv("PLATFORM_ORGANIZATION_ID", "variable-org")
    monkeypatch.setenv("PLATFORM_ENDPOINT", "https://variable.example.org")
    found = find_credentials("given-token", "given-org", "https://given.example.org")
    assert (found.token, found.organization_id) == ("given-token", "given-org")
    assert found.endpoint == "https://given.example.org"


def test_an_execution_without_access_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_EXECUTION_ID", "an-id")
    with pytest.raises(CredentialsNotFound, match="isolation level C"):
        find_credentials()
    monkeypatch.setenv("PLATFORM_PERSONAL_ACCESS_TOKEN", "own-token")
    assert find_credentials().token == "own-token"


def test_inside_of_a_service_its_token_wins_and_fixes_the_organisation(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(config_folder)
    monkeypatch.setenv("PLATFORM_SERVICE_EXECUTION_TOKEN", "execution-token")
    monkeypatch.setenv("PLATFORM_PERSONAL_ACCESS_TOKEN", "personal-token")
    monkeypatch.setenv("PLATFORM_ORGANIZATION_ID", "variable-org")
    found = find_credentials()
    assert (found.token, found.organization_id) == ("execution-token", None)
    assert find_credentials(organization_id="given-org").organization_id is None


def test_the_variable_of_a_person_wins_over_the_stored_login(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(config_folder)
    monkeypatch.setenv("PLATFORM_PERSONAL_ACCESS_TOKEN", " personal-token\n")
    found = find_credentials()
    assert (found.token, found.organization_id) == ("personal-token", "stored-org")
    assert found.endpoint == "https://stored.example.org"


def test_the_stored_login_alone_is_enough(config_folder: Path) -> None:
    store(config_folder)
    found = find_credentials()
    assert (found.token, found.organization_id) == ("stored-token", "stored-org")
    assert found.endpoint == "https://stored.example.org"


def test_empty_variables_count_as_not_set(
    config_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(config_folder)
    for name in ("PLATFORM_SERVICE_EXECUTION_TOKEN", "PLATFORM_PERSONAL_ACCESS_TOKEN"):
        monkeypatch.setenv(name, "  ")
    assert find_credentials().token == "stored-token"


def test_without_any_token_the_error_says_how_to_get_one(config_folder: Path) -> None:
    with pytest.raises(CredentialsNotFound, match="PLATFORM_PERSONAL_ACCESS_TOKEN"):
        PlatformQuantumProvider()
    store(config_folder, {"endpoint": "https://stored.example.org"})
    with pytest.raises(CredentialsNotFound, match="platform login"):
        find_credentials()


def test_the_endpoint_is_that_of_a_local_platform_when_nothing_names_one(
    config_folder: Path,
) -> None:
    assert not config_folder.exists()
    assert find_credentials("token").endpoint == "http://localhost:8090"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "JSON object"),
        ({"personalAccessToken": 5}, "'personalAccessToken' is not a string"),
        ({"endpoint": None}, "'endpoint' is not a string"),
        ({"context": []}, "'context' is not an object"),
        ({"context": {}}, "no 'id'"),
        ('{"personalAccessToken": "stored-token" "', "not JSON"),
        (" " * (1024 * 1024 + 1), "more than"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it_and_not_what_is_in_it(
    config_folder: Path, content: object, reason: str
) -> None:
    file = store(config_folder, content)
    with pytest.raises(ConfigInvalidError) as raised:
        find_credentials()
    assert reason in str(raised.value)
    assert str(file) in str(raised.value)
    assert "stored-token" not in str(raised.value)


def test_a_broken_file_does_not_matter_when_the_token_came_from_elsewhere(
    config_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = store(config_folder, "{")
    with caplog.at_level(logging.WARNING):
        assert find_credentials("token").organization_id is None
    assert str(file) in caplog.text


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_an_error_that_names_it(config_folder: Path) -> None:
    file = store(config_folder)
    file.chmod(0)
    with pytest.raises(ConfigInvalidError, match="Permission denied"):
        find_credentials()


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, ".config/platform"),
        ("linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/platform"),
        ("darwin", {"XDG_CONFIG_HOME": "/xdg"}, "Library/Preferences/platform"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/platform/Config"),
        ("win32", {}, "AppData/Roaming/platform/Config"),
        ("linux", {"PLATFORM_CONFIG_DIR": "/chosen"}, "/chosen"),
    ],
)
def test_the_file_is_where_the_command_line_tool_has_it(
    system: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLATFORM_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert find_config_file() == Path.home() / expected / "config.json"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://localhost:8090", "http://localhost:8090"),
        ("http://localhost:8090/api/", "http://localhost:8090"),
        ("https://example.org/prefix/api", "https://example.org/prefix"),
        ("https://example.org/quantum", "https://example.org"),
        ("https://user:word@example.org/", "https://example.org"),
        ("http://[::1]:8090/", "http://[::1]:8090"),
    ],
)
def test_an_endpoint_may_end_with_api_and_slashes(text: str, expected: str) -> None:
    assert parse_endpoint(text) == expected


@pytest.mark.parametrize("text", ["localhost:8090", "ftp://example.org", "http://", "http://a:b"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="https://platform"):
        parse_endpoint(text)


def test_a_token_that_would_be_sent_unencrypted_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parse_endpoint("http://127.0.0.1:8090")
    assert caplog.text == ""
    parse_endpoint("http://platform.example.org")
    assert "not encrypted" in caplog.text


@pytest.mark.parametrize("token", ["secret\nX-Evil: 1", "secret token", "secretä"])
def test_a_token_that_is_none_is_refused_without_being_shown(
    config_folder: Path, token: str
) -> None:
    assert not config_folder.exists()
    with pytest.raises(InvalidAccessTokenError) as raised:
        find_credentials(token)
    assert "secret" not in str(raised.value)


def test_no_text_of_an_object_has_the_token(config_folder: Path) -> None:
    store(config_folder)
    provider = PlatformQuantumProvider("given-token")
    shown = [repr(provider), repr(provider.api), repr(find_credentials("given-token"))]
    shown.append(repr(provider.api._http))
    assert not any("token" in text.replace("access_token", "") for text in shown)
