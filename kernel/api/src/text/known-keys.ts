/**
 * What keys of well-known services begin with, as the source of a pattern: OpenAI, Anthropic, OpenRouter, DeepSeek and others (sk),
 * Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA, Cerebras, Fireworks, Together, LangSmith, Jina, Vercel, GitHub, GitLab, Slack,
 * Stripe and DigitalOcean, then Google and AWS. Say what may follow yourself: a part of a quoted key is shorter than a whole one.
 */
export const KEY_BEGINNING = '(?:(?:sk|csk|rk|gsk|xai|hf|r8|pplx|nvapi|sess|fw|tgp|lsv2|jina|vck|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeoprs]|whsec|dop_v1|fc)[-_]|AIza|AKIA|ASIA)';
