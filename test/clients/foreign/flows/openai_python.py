"""The openai package for Python."""
import json
import os
import time
import urllib.request

from openai import OpenAI

URL = os.environ["SVC_URL"]
MODEL = "svc:assistant:stateless"
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
client = OpenAI(base_url=f"{URL}/v1", api_key="any")


def ask(content, **more):
    messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def said(completion):
    return completion.choices[0].message.content


def look(url):
    return [{"role": "user", "content": [{"type": "text", "text": "what is it?"}, {"type": "image_url", "image_url": {"url": url}}]}]


def chat():
    assert said(ask("two and two?")) == "four"


def stream():
    pieces = ask("count", stream=True, stream_options={"include_usage": True})
    assert "".join(chunk.choices[0].delta.content or "" for chunk in pieces if chunk.choices) == "one two three"


def history():
    turns = [("user", "hello"), ("assistant", "hi"), ("user", "how many turns?")]
    assert said(ask([{"role": role, "content": text} for role, text in turns])) == "3 turns"


def image():
    assert said(ask(look(PIXEL))) == "a pixel"


def error():
    try:
        ask(look("https://example.org/a.png"))
    except Exception as caught:
        assert "An image cannot be taken" in str(caught), caught
        return
    raise AssertionError("nothing was raised")


def abort():
    pieces = ask("go on and on", stream=True)
    next(iter(pieces))
    pieces.close()
    for _ in range(40):
        with urllib.request.urlopen(f"{URL}/api/status") as answer:
            if json.load(answer)["active_agent_count"] == 0:
                return
        time.sleep(0.25)
    raise AssertionError("the run went on")


for flow in (chat, stream, history, image, error, abort):
    try:
        flow()
        print(json.dumps({"flow": flow.__name__, "ok": True}), flush=True)
    except Exception as caught:
        print(json.dumps({"flow": flow.__name__, "ok": False, "why": str(caught)[:200]}), flush=True)
