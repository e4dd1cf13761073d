/**
 * How each model of the chat-completions protocol is told to think. Providers have agreed on nothing: the same model takes another word at each.
 * A model that stands in no row cannot be told, and whoever asked hears that.
 */
export type ChatForm =
  /** `reasoning_effort`, in three amounts; the next three take other amounts. */
  | 'effort'
  | 'effort_low_high'
  | 'effort_high'
  | 'effort_default'
  /** `reasoning`, of OpenRouter. */
  | 'reasoning'
  /** `thinking: {type: enabled}`; the next one with a budget. */
  | 'thinking'
  | 'thinking_budget'
  /** `enable_thinking` and `thinking_budget`, of Alibaba. */
  | 'enable_thinking'
  /** A setting of the model's template, where it runs on a server of one's own. */
  | 'template'
  /** It thinks always, and takes no word for it. */
  | 'always';

type Row = readonly [provider: RegExp, model: RegExp, form: ChatForm | undefined];

const ANY = /^/;
const EFFORT_MODELS = /(?:^|\/)(?:codex\/)?(?:o[134](?:-|$)|gpt-5|gpt-6|gpt-oss)|gpt-oss/i;
/** They think before each answer, whatever they are asked. */
const ALWAYS = /deepseek-(?:reasoner|r1)|qwq|magistral|-thinking|reasoning(?!.*non)|minimax-m|kimi-for-coding|step-3|-think\b/i;
const NEVER = /non-reasoning|instruct|-chat\b|coder/i;
/** They think where they are told to. */
const HYBRID =
  /qwen-?3|qwen-(?:plus|max|turbo|flash)|glm-(?:4\.[5-9]|[5-9])|deepseek-v(?:3\.[1-9]|[4-9])|kimi-k2\.[5-9]|nemotron|hunyuan|granite|seed-|mimo|gemma-?4|ernie-(?:4\.5|5)|smollm3|intellect-3/i;
const GEMINI = /gemini-(?:2\.5|[3-9]|\d\d)(?!.*(?:image|tts|audio))/i;
const CLAUDE = /claude-(?!instant|[12](?:\D|$)|3-(?:opus|sonnet|haiku|5))/i;

/** The first row that fits. */
const ROWS: readonly Row[] = [
  [/^openrouter$/, /non-reasoning/i, undefined],
  [/^openrouter$/, GEMINI, 'reasoning'],
  [/^openrouter$/, CLAUDE, 'reasoning'],
  [/^openrouter$/, EFFORT_MODELS, 'reasoning'],
  [/^openrouter$/, /grok-(?:3-mini|[4-9])/i, 'reasoning'],
  [/^openrouter$/, /instruct|coder/i, undefined],
  [/^openrouter$/, ALWAYS, 'reasoning'],
  [/^openrouter$/, HYBRID, 'reasoning'],
  [/^xai$/, /non-reasoning/i, undefined],
  [/^xai$/, /grok-3-mini/i, 'effort_low_high'],
  [/^xai$/, /grok-(?:[4-9]|code)/i, 'always'],
  [/^groq$/, /qwen-?3/i, 'effort_default'],
  [/^mistral$/, /magistral/i, 'always'],
  [/^mistral$/, /mistral-(?:small|medium)-(?:latest|26|4|3[.-]5)/i, 'effort_high'],
  [/^deepseek$/, /reasoner/i, 'always'],
  [/^deepseek$/, ANY, 'thinking'],
  [/^(?:moonshot|moonshot-cn|kimi)/, /k2\.[5-9]|k[3-9]/i, 'thinking'],
  [/^(?:zai|zhipu|z-ai)/, HYBRID, 'thinking'],
  [/^(?:xiaomi|volcengine|byteplus|doubao)/, EFFORT_MODELS, 'effort'],
  [/^(?:xiaomi|volcengine|byteplus|doubao)/, HYBRID, 'thinking'],
  [/^(?:qwen|alibaba|dashscope|siliconflow|novita|tencent|modelscope|qianfan)/, ALWAYS, 'always'],
  [/^(?:qwen|alibaba|dashscope|siliconflow|novita|tencent|modelscope|qianfan)/, NEVER, undefined],
  [/^(?:qwen|alibaba|dashscope|siliconflow|novita|tencent|modelscope|qianfan)/, HYBRID, 'enable_thinking'],
  [/^ollama/, /deepseek-r1|qwq|magistral|qwen-?3|gpt-oss|gemma-?4|-thinking|deepseek-v(?:3\.[1-9]|[4-9])|glm-(?:4\.[5-9]|[5-9])|kimi-k2/i, 'effort'],
  [/^lm-?studio/, HYBRID, undefined],
  [/^(?:fireworks|huggingface|deepinfra|inception|upstage|cerebras|perplexity)/, /mercury-2|solar-pro-[3-9]|solar-pro2|sonar-(?:reasoning|deep)/i, 'effort'],
  [/^(?:fireworks|huggingface|deepinfra)/, HYBRID, 'effort'],
  [ANY, /non-reasoning/i, undefined],
  [ANY, EFFORT_MODELS, 'effort'],
  [ANY, GEMINI, 'effort'],
  [/^(?!openai$)/, CLAUDE, 'thinking_budget'],
  [ANY, ALWAYS, 'always'],
  [ANY, /instruct|coder/i, undefined],
  [ANY, HYBRID, 'template'],
];

export const chatForm = (provider: string, model: string): ChatForm | undefined => ROWS.find(([providers, models]) => providers.test(provider) && models.test(model))?.[2];
