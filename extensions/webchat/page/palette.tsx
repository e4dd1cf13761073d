/** Everything by its name: panels, agents, what the page can do. Opened with Ctrl K. */
import { address, chooseLanguage, daemon, Dialog, failed, go, Icon, iconNamed, type IconName, language, may, setTheme, type OutputOf, useEffect, useId, useMemo, useRef, useState } from '@svc/kit';
import { panels } from './panels.js';
import { t } from './shell-words.js';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  readonly icon: IconName;
  readonly run: () => void;
}

type Agent = OutputOf<'listAgents'>['items'][number];
const MAX_SHOWN = 50;

const ownCommands = (): Command[] => [
  ...(panels.value ?? []).map((panel) => ({ id: `panel ${panel.id}`, label: panel.title[language.value], note: t(panel.place), icon: iconNamed(panel.icon), run: () => go(panel.id) })),
  { id: 'docs', label: t('docs'), icon: 'book-open', run: () => void open('/docs', '_blank', 'noopener') },
  { id: 'light', label: `${t('theme')}: ${t('theme_light')}`, icon: 'sun', run: () => setTheme('light') },
  { id: 'dark', label: `${t('theme')}: ${t('theme_dark')}`, icon: 'moon', run: () => setTheme('dark') },
  { id: 'system', label: `${t('theme')}: ${t('theme_system')}`, icon: 'monitor', run: () => setTheme('system') },
  { id: 'en', label: 'English', icon: 'languages', run: () => chooseLanguage('en') },
  { id: 'zh', label: '中文', icon: 'languages', run: () => chooseLanguage('zh') },
];

const agentCommands = (agents: readonly Agent[]): Command[] =>
  panels.value?.some(({ id }) => id === 'chat') && may('runs.send')
    ? agents.map((agent) => ({ id: `agent ${agent.id}`, label: t('talk_to', { name: agent.name }), icon: 'bot', run: () => go('chat', [agent.id]) }))
    : [];

/** Every word of what was typed is somewhere in the name; those that begin with it come first. */
const found = (commands: readonly Command[], typed: string): readonly Command[] => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ label, note = '' }: Command): string => `${label} ${note}`.toLowerCase();
  const fits = commands.filter((command) => wanted.every((word) => textOf(command).includes(word)));
  const [first] = wanted;
  return (first === undefined ? fits : [...fits].sort((one, other) => Number(textOf(other).startsWith(first)) - Number(textOf(one).startsWith(first)))).slice(0, MAX_SHOWN);
};

export const Palette = ({ onClose }: { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [agents, setAgents] = useState<readonly Agent[]>([]);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!may('agents.read')) return;
    const own = new AbortController();
    daemon.call('listAgents', { limit: 200 }, { signal: own.signal }).then(({ items }) => setAgents(items), failed);
    return () => own.abort();
  }, []);
  // What one came from is gone with its panel; who goes on by keyboard begins with the new one.
  const hasMoved = useRef(false);
  useEffect(
    () => () => {
      if (hasMoved.current) requestAnimationFrame(() => document.getElementById('content')?.focus());
    },
    [],
  );
  const commands = useMemo(() => found([...ownCommands(), ...agentCommands(agents)], typed), [typed, agents, address.value]);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    const { panel } = address.peek();
    onClose();
    command.run();
    hasMoved.current = address.peek().panel !== panel;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = (at + step + commands.length) % Math.max(1, commands.length);
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      run(commands[at]);
    }
  };
  return (
    <Dialog title={t('commands')} onClose={onClose}>
      <input
        class="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={commands[at] ? `${id}-${at}` : undefined}
        aria-label={t('commands_hint')}
        placeholder={t('commands_hint')}
        value={typed}
        spellcheck={false}
        autofocus
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="palette" role="listbox" id={id} aria-label={t('commands')} ref={list}>
        {commands.map((command, index) => (
          <div key={command.id} id={`${id}-${index}`} role="option" tabIndex={-1} aria-selected={index === at} class="palette-row" onClick={() => run(command)}>
            <Icon name={command.icon} />
            <span class="grow cut">{command.label}</span>
            {command.note && <span class="muted small-text">{command.note}</span>}
          </div>
        ))}
      </div>
      {commands.length === 0 && <p class="muted">{t('no_command')}</p>}
    </Dialog>
  );
};
