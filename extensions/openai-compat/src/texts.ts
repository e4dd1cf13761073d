/** What a person should know before the first call, in Markdown. */

export const COMPLETION_TEXT = `For OpenAI's clients and chat UIs: base URL \`http://127.0.0.1:4545/v1\`, any key where none is set.

**Which agent** \`model\` says: \`svc:<agent>\`, an agent id, or an agent name; anything else is the first agent, but for what begins with \`svc:\`: where no agent has that name the answer is 404 \`model_not_found\`.

**Which messages count:**

| asked by | read | waits for others |
|---|---|---|
| nothing else | a session of this client (its key) with the agent, and the last user message | yes: a session answers one message at a time |
| header \`X-Svc-Session\`, or \`svc:<agent>@<session>\` (id or label) | that session, and the last user message | yes, in that session |
| \`user\` | a session of that person's own, the same each time, and the last user message | yes, in that session |
| header \`X-Svc-Stateless: 1\`, or \`svc:<agent>:stateless\` | all messages as they were sent, and no session | no |

Choose stateless for UIs that keep the conversation themselves (Open WebUI, LibreChat), so that editing, regenerating and their titles do what they show. Such a request is sent to the model whole, or fails as too long; it is not kept as a conversation. A session that is named wins over \`user\`; a session and stateless at once are refused. System and developer messages, wherever they stand, follow on the agent's own prompt, for this run only. A slash command works in a session, and is plain words in a stateless request.

**The agent stays an agent:** its tools run inside and are not shown, and its limits and budget hold. The usage is that of all model calls for the answer.

**Your own tools:** send \`tools\`. The model sees them beside the agent's own, or alone in a stateless request. When it calls one, the answer ends with \`finish_reason: "tool_calls"\`. Run the tools and send a \`tool\` message for each call, all in one request; the \`tool_call_id\` finds the run. Until then the run waits: for a day ([runs] client_tools_timeout_secs), also while the daemon restarts. Then it fails with \`run_calls_expired\`. Only the person who sent the message can answer. The same results again give the same answer; other results get 409. If you send a new user message instead, the calls are skipped. In a session, svc reads only the results: edited earlier messages have no effect. In a stateless request nothing waits: send the assistant message with its calls, and the results. Calls of tools that the request does not bring are told to the model in words.

\`tool_choice\` is about your tools: \`none\` hides them, \`required\` or a name makes the first model call call one of them. With \`parallel_tool_calls: false\`, an answer has at most one call. \`strict\` is sent to providers that know it. A tool with the name of one of the agent's is refused in a session. Tool results are text from outside: policies label them ExternalNetwork.

**Parameters** reach the model with every call. \`stop\` and \`response_format\` shape the answer: where the provider's protocol has no place for one, or the model refuses it, the answer is 400 \`llm_parameter_unsupported\` and names it. \`temperature\`, \`top_p\`, \`presence_penalty\`, \`frequency_penalty\` and \`seed\` are left out for a model that does not take that value (GPT-5 takes a temperature of 1 alone). The header \`X-Svc-Warning\` and a line in the log then name each, with the reason. The header also names fields that ask for another answer and are not handed on: \`logit_bias\`, \`reasoning_effort\` and the like. Other fields do nothing.

**Failures** before the first word are an HTTP status, streamed or not. One of a run that had begun carries \`x-should-retry: false\`. A client that hangs up ends its run 2 s later. \`Idempotency-Key\` makes a resent request the same run.`;

export const MODELS_TEXT =
  'Each agent that you can see, twice: `svc:<agent>` continues its conversation, `svc:<agent>:stateless` answers from the messages of the request alone, as chat UIs expect. `svc:<agent>@<session>` also works and is not listed.';

export const MODEL_TEXT = 'By any form of id that names an agent. One that names a session is there if the session is.';
