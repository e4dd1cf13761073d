/** What a person should know before the first call, in Markdown. */
export const RESPONSES_TEXT = `OpenAI's Responses API, for its SDKs and @openai/agents. Models, parameters, tools, limits and errors are those of \`/v1/chat/completions\`.

| request | read |
|---|---|
| one user message | it begins a session of its own; the response is stored |
| \`previous_response_id\` | its session, and the last user message or results. Only the newest response of a conversation can be continued; another one is 409 \`response_continued\` |
| ends with \`function_call_output\` items for calls of an earlier response | the run that waits for them, also without \`previous_response_id\` |
| several messages, \`store: false\`, or \`svc:<agent>:stateless\` | all of its input, and nothing else; nothing is stored |

Tools have the flat form of this API: \`{type: "function", name, parameters}\`. Hosted tools (web search, files, computer use) are refused: the agent has its own. \`background\`, \`conversation\` and item references are not supported.`;
