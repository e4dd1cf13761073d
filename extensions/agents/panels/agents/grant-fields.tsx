/** What an agent may do: each permission by what it lets the agent do, and the tools it may call. */
import { Badge, CheckField, daemon, Failure, type OutputOf, SearchField, Section, Select, TextArea, useLoaded, useState } from '@svc/kit';
import { type AgentFields, type Faults, type FlagGrant, linesOf, type ListedGrant, type ToolChoice } from './agent-fields.js';
import { c } from './capability-words.js';

type Tool = OutputOf<'listTools'>['tools'][number];

export interface FieldsProps {
  readonly fields: AgentFields;
  readonly faults: Faults;
  readonly onChange: (change: Partial<AgentFields>) => void;
  readonly disabled: boolean;
}

/** What stands in the list when it is switched on, where that is what most people mean. */
const USUAL: Readonly<Partial<Record<ListedGrant, string>>> = { network: '*', agent_message: '*', memory_read: '*', memory_write: '*' };

const HINTS = { network: 'network_hint', shell: 'shell_hint', agent_message: 'agent_message_hint', memory_read: 'memory_hint', memory_write: 'memory_hint' } as const;

const Listed = ({ grant, fields, onChange, disabled }: FieldsProps & { grant: ListedGrant }) => {
  const text = fields[grant];
  const [isOpen, setOpen] = useState(text !== '');
  // What was there comes back with the switch.
  const [before, setBefore] = useState(USUAL[grant] ?? '');
  const isOn = isOpen || text !== '';
  const toggle = (on: boolean): void => {
    setOpen(on);
    if (!on) setBefore(text);
    onChange({ [grant]: on ? before : '' });
  };
  return (
    <div class="grant">
      <CheckField isSwitch label={c(grant)} hint={c(`${grant}_text`)} value={isOn} disabled={disabled} onValue={toggle} />
      {isOn && (
        <TextArea
          isCode
          rows={Math.min(6, Math.max(2, text.split('\n').length))}
          label={c(`${grant}_lines`)}
          hint={text.trim() === '' ? c('empty_list') : c(HINTS[grant])}
          value={text}
          disabled={disabled}
          onValue={(value) => onChange({ [grant]: value })}
        />
      )}
    </div>
  );
};

const Flag = ({ grant, fields, onChange, disabled }: FieldsProps & { grant: FlagGrant }) => (
  <div class="grant">
    <CheckField isSwitch label={c(grant)} hint={c(`${grant}_text`)} value={fields[grant]} disabled={disabled} onValue={(value) => onChange({ [grant]: value })} />
  </div>
);

const ToolList = ({ tools, fields, onChange, disabled }: FieldsProps & { tools: readonly Tool[] }) => {
  const [typed, setTyped] = useState('');
  const chosen = linesOf(fields.tools);
  const strange = chosen.filter((name) => !tools.some((tool) => tool.name === name));
  const shown = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(typed.trim().toLowerCase()));
  const toggle = (name: string, on: boolean): void => onChange({ tools: (on ? [...chosen, name] : chosen.filter((one) => one !== name)).join('\n') });
  return (
    <>
      <SearchField label={c('tools_search')} value={typed} onValue={setTyped} />
      <div class="tool-list" role="group" aria-label={c('tools')}>
        {strange.map((name) => (
          <CheckField key={name} label={<span class="mono">{name}</span>} hint={c('tools_pattern')} value disabled={disabled} onValue={(on) => toggle(name, on)} />
        ))}
        {shown.map(({ name, description, risk }) => (
          <CheckField
            key={name}
            label={
              <>
                <span class="mono">{name}</span> <Badge>{c(`risk_${risk}`)}</Badge>
              </>
            }
            hint={description}
            value={chosen.includes(name)}
            disabled={disabled}
            onValue={(on) => toggle(name, on)}
          />
        ))}
      </div>
      <p class="muted small-text">{c('tools_count', { count: chosen.length })}</p>
    </>
  );
};

const Tools = (props: FieldsProps) => {
  const { fields, faults, onChange, disabled } = props;
  const tools = useLoaded('tools', (signal) => daemon.call('listTools', {}, { signal }), ['extension']);
  return (
    <div class="grant">
      <Select
        label={c('tools')}
        hint={c('tools_text')}
        error={faults.tools}
        value={fields.tool_choice}
        disabled={disabled}
        // One of the values below.
        onValue={(choice) => onChange({ tool_choice: choice as ToolChoice })}
        options={[
          { value: 'all', label: c('tools_all') },
          { value: 'chosen', label: c('tools_chosen') },
          { value: 'none', label: c('tools_none') },
        ]}
      />
      {fields.tool_choice === 'chosen' && tools.data && <ToolList {...props} tools={tools.data.tools} />}
      {fields.tool_choice === 'chosen' && !tools.data && tools.error !== undefined && (
        <>
          <Failure error={tools.error} onRetry={tools.reload} />
          <TextArea isCode label={c('tools_list')} value={fields.tools} disabled={disabled} onValue={(value) => onChange({ tools: value })} />
        </>
      )}
    </div>
  );
};

export const GrantFields = (props: FieldsProps) => (
  <Section title={c('title')} note={c('note')}>
    <div class="grants">
      <Flag grant="file_system" {...props} />
      <Listed grant="network" {...props} />
      <Listed grant="shell" {...props} />
      <Listed grant="agent_message" {...props} />
      <Flag grant="agent_spawn" {...props} />
      <Listed grant="memory_read" {...props} />
      <Listed grant="memory_write" {...props} />
      <Tools {...props} />
    </div>
  </Section>
);
