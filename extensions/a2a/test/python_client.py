"""The client of a2a-sdk from PyPI asks a svc daemon: prints one JSON line with what it saw."""
import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, create_client
from a2a.helpers import new_text_message
from a2a.types import CancelTaskRequest, GetTaskRequest, Role, SendMessageRequest, TaskState


async def answer_of(client, text):
    task_id, context_id, state, said = "", "", None, ""
    async for event in client.send_message(SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))):
        if event.HasField("task"):
            task_id, context_id, state = event.task.id, event.task.context_id, event.task.status.state
            said += "".join(part.text for artifact in event.task.artifacts for part in artifact.parts)
        elif event.HasField("status_update"):
            state = event.status_update.status.state
        elif event.HasField("artifact_update"):
            piece = "".join(part.text for part in event.artifact_update.artifact.parts)
            # The last update brings the whole text once more, in place of its pieces.
            said = said + piece if event.artifact_update.append else piece
    return {"task": task_id, "context": context_id, "state": TaskState.Name(state), "said": said}


async def main(url, key):
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=30) as http:
        seen = {}
        for name, streaming in (("whole", False), ("stream", True)):
            client = await create_client(url, ClientConfig(httpx_client=http, streaming=streaming))
            seen[name] = await answer_of(client, f"hello, {name}")
        got = await client.get_task(GetTaskRequest(id=seen["whole"]["task"]))
        seen["got"] = TaskState.Name(got.status.state)
        try:
            await client.cancel_task(CancelTaskRequest(id=got.id))
            seen["cancel"] = "done"
        except Exception as error:  # noqa: BLE001
            seen["cancel"] = type(error).__name__
        print(json.dumps(seen))


asyncio.run(main(sys.argv[1], sys.argv[2]))
