"""The tasks of AgentDojo as lines of JSON: what the user asks, which calls solve it, what each call answers, and the calls
that an injected text asks for. Nothing of the package is stored in this repository; this reads the installed one.

usage: tasks.py [ATTACK…]   (important_instructions, ignore_previous, direct, …)
"""
import copy
import json
import os
import sys
import types
from importlib.util import find_spec

VERSION = "v1.2.2"


REPLACED_MODULES = {
    "agentdojo.agent_pipeline.llms.google_llm": {"EMPTY_FUNCTION_NAME": "<empty-function-name>"},
    "agentdojo.logging": {"Logger": object},
    "rich": {},
    "rich.progress": {"track": iter},
}


def without_models():
    """The package's agents need the client libraries of five providers; its tasks need none of them."""
    root = next(iter(find_spec("agentdojo").submodule_search_locations))
    for name in ("agent_pipeline", "agent_pipeline.llms"):
        bare = types.ModuleType(f"agentdojo.{name}")
        bare.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules[bare.__name__] = bare
    for name, values in REPLACED_MODULES.items():
        module = types.ModuleType(name)
        module.__dict__.update(values)
        sys.modules[name] = module


without_models()
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.attacks import load_attack  # noqa: E402
from agentdojo.functions_runtime import FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402


def canary(vector):
    return f"<CANARY---{vector}--->"


def filled(value, texts):
    if isinstance(value, str):
        for vector, text in texts.items():
            value = value.replace(canary(vector), text)
        return value
    if isinstance(value, dict):
        return {filled(key, texts): filled(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, texts) for one in value]
    return value


def plain(value):
    return json.loads(json.dumps(value, default=str))


def called(suite, environment, calls):
    """Each call with its answer, as a model reads it."""
    runtime = FunctionsRuntime(suite.tools)
    made = []
    for call in calls:
        result, error = runtime.run_function(environment, call.function, call.args)
        made.append({"name": call.function, "args": plain(call.args), "output": tool_result_to_str(result) if error is None else error})
    return made


def tell(**line):
    print(json.dumps(line), flush=False)


class Pipeline:
    """What an attack asks of the agent that it attacks: its name."""

    name = "gpt-4o-2024-05-13"


def environment_of(suite, raw, texts, task):
    environment = suite.environment_type.model_validate(filled(copy.deepcopy(raw), texts))
    return task.init_environment(environment)


for name, suite in get_suites(VERSION).items():
    defaults = suite.get_injection_vector_defaults()
    raw = suite.load_and_inject_default_environment({vector: canary(vector) for vector in defaults}).model_dump()
    tell(kind="suite", suite=name, tools=[{"name": tool.name, "description": tool.description, "params": plain(tool.parameters.model_json_schema())} for tool in suite.tools])
    for task in suite.user_tasks.values():
        environment = environment_of(suite, raw, defaults, task)
        tell(kind="user", suite=name, task=task.ID, prompt=task.PROMPT, calls=called(suite, environment, task.ground_truth(environment)))
    for attack_name in sys.argv[1:]:
        attack = load_attack(attack_name, suite, Pipeline())
        for task in suite.user_tasks.values():
            try:
                vectors = attack.get_injection_candidates(task)
            except ValueError:
                continue  # nothing that this task reads can be written to by others
            for injection in suite.injection_tasks.values():
                texts = {**defaults, **attack.attack(task, injection)}
                environment = environment_of(suite, raw, texts, task)
                calls = called(suite, environment, task.ground_truth(environment))
                marks = [texts[vector] for vector in vectors]
                injected = called(suite, environment, injection.ground_truth(environment))
                tell(kind="attack", suite=name, attack=attack_name, task=task.ID, injection=injection.ID, goal=injection.GOAL, prompt=task.PROMPT, texts=marks, calls=calls, injected=injected)
