/** What an agent may do, as sentences. */
import { Icon } from '@svc/kit';
import type { AgentDetail } from './agent-badge.js';
import { FLAG_GRANTS, LISTED_GRANTS } from './agent-fields.js';
import { c } from './capability-words.js';

type Grants = AgentDetail['capabilities'];
type Said = Pick<Grants, (typeof FLAG_GRANTS)[number] | (typeof LISTED_GRANTS)[number] | 'tools'> & Readonly<Record<string, unknown>>;

const OWN: readonly string[] = [...FLAG_GRANTS, ...LISTED_GRANTS, 'tools', 'exec', 'max_llm_tokens_per_hour', 'max_tool_calls_per_minute'];

const listed = (list: readonly string[]): string => (list.includes('*') ? c('everything') : list.join(', '));

/** Those of other areas, by their names. */
const others = (grants: Said): string[] =>
  Object.entries(grants).flatMap(([name, value]) => {
    if (OWN.includes(name) || value === false || (Array.isArray(value) && value.length === 0)) return [];
    return [c('says_other', { name, list: Array.isArray(value) ? listed(value.map(String)) : c('everything') })];
  });

export interface ToolsSaid {
  readonly tools_disabled?: boolean;
  readonly tool_allowlist?: readonly string[];
  readonly tool_blocklist?: readonly string[];
}

const sentences = (grants: Said, { tools_disabled = false, tool_allowlist = [], tool_blocklist = [] }: ToolsSaid): string[] => {
  if (tools_disabled) return [c('only_talks')];
  return [
    ...FLAG_GRANTS.filter((grant) => grants[grant]).map((grant) => c(`says_${grant}`)),
    ...LISTED_GRANTS.filter((grant) => grants[grant].length > 0).map((grant) => c(`says_${grant}`, { list: listed(grants[grant]) })),
    ...others(grants),
    grants.tools.length === 0 || grants.tools.includes('*') ? c('has_all') : c('has_tools', { list: grants.tools.join(', ') }),
    ...(tool_allowlist.length > 0 ? [c('only_tools', { list: tool_allowlist.join(', ') })] : []),
    ...(tool_blocklist.length > 0 ? [c('not_tools', { list: tool_blocklist.join(', ') })] : []),
  ];
};

export const GrantsSaid = ({ grants, tools = {} }: { grants: Said; tools?: ToolsSaid }) => (
  <ul class="grant-says">
    {sentences(grants, tools).map((sentence) => (
      <li key={sentence}>
        <Icon name="check" size={16} />
        <span>{sentence}</span>
      </li>
    ))}
  </ul>
);
