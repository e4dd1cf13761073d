"""A tool for the `llm` command: `llm --functions` reads it."""


def weather(city: str) -> str:
    "Weather now"
    return f"rain in {city}"
