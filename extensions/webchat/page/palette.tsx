/** Everything by its name: panels, agents, conversations, settings, what the page can do. Opened with Ctrl K. */
import {
  address,
  chooseLanguage,
  daemon,
  Dialog,
  failed,
  go,
  Icon,
  iconNamed,
  type IconName,
  kept,
  language,
  may,
  setTheme,
  type OutputOf,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from '@svc/kit';
import { isPinned, shownPanel, togglePin } from './hubs.js';
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

const has = (panel: string): boolean => panels.value?.some(({ id }) => id === panel) === true;

/** With the agent that the address names, else the last one. */
const beginConversation = (): void => {
  const { panel, path } = address.peek();
  const agent = panel === 'chat' ? path[0] : kept('svc.agent');
  go('chat', agent ? [agent, 'new'] : []);
};

const pinCommand = (): Command[] => {
  const panel = shownPanel();
  if (!panel) return [];
  const isOn = isPinned(panel.id);
  return [{ id: 'pin', label: t(isOn ? 'unpin' : 'pin', { title: panel.title[language.value] }), icon: isOn ? 'pin-off' : 'pin', run: () => togglePin(panel.id) }];
};

const ownCommands = (onShortcuts: () => void): Command[] => [
  ...(panels.value ?? []).map((panel) => ({ id: `panel ${panel.id}`, label: panel.title[language.value], note: t(`hub_${panel.hub}`), icon: iconNamed(panel.icon), run: () => go(panel.id) })),
  ...(has('chat') && may('runs.send') ? [{ id: 'new', label: t('new_conversation'), icon: 'message-square-plus' as const, run: beginConversation }] : []),
  ...pinCommand(),
  { id: 'shortcuts', label: t('shortcuts'), note: '?', icon: 'info', run: onShortcuts },
  { id: 'docs', label: t('docs'), icon: 'circle-help', run: () => void open('/docs', '_blank', 'noopener') },
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

type Session = OutputOf<'listSessions'>['sessions'][number];

const sessionCommands = (sessions: readonly Session[]): Command[] =>
  sessions.flatMap(({ session_id, agent_id, agent_name, label }) =>
    label === null ? [] : { id: `session ${session_id}`, label, note: agent_name ?? t('hub_chat'), icon: 'message-square' as const, run: () => go('chat', [agent_id, session_id]) },
  );

type Setting = OutputOf<'listSettings'>['settings'][number];

const settingCommands = (settings: readonly Setting[]): Command[] =>
  settings.map(({ path }) => ({ id: `setting ${path}`, label: path, note: t('setting'), icon: 'settings', run: () => go('config', [path.split('.')[0] ?? '']) }));

const SEARCH_AFTER_MS = 250;
const MIN_SEARCHED = 2;
const RECENT = 100;
const MAX_HITS = 10;

/** Conversations in which this was said; those whose names fit are known without. */
const useSaid = (typed: string): Command[] => {
  const [hits, setHits] = useState<Command[]>([]);
  useEffect(() => {
    const q = typed.trim();
    setHits([]);
    if (q.length < MIN_SEARCHED || !has('chat')) return;
    const own = new AbortController();
    const search = async (): Promise<void> => {
      const { items } = await daemon.call('searchSessions', { q, limit: MAX_HITS }, { signal: own.signal });
      setHits(
        items.map(({ session_id, agent_id, seq, label, snippet }) => ({
          id: `said ${session_id} ${seq}`,
          label: snippet,
          note: label ?? t('hub_chat'),
          icon: 'search',
          run: () => go('chat', [agent_id, session_id]),
        })),
      );
    };
    // Words that are none (a query of signs alone) find nothing.
    const timer = setTimeout(() => search().catch(() => undefined), SEARCH_AFTER_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [typed]);
  return hits;
};

/** Every word of what was typed is somewhere in the name; those that begin with it come first. */
const found = (commands: readonly Command[], typed: string): readonly Command[] => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ label, note = '' }: Command): string => `${label} ${note}`.toLowerCase();
  const fits = commands.filter((command) => wanted.every((word) => textOf(command).includes(word)));
  const [first] = wanted;
  return (first === undefined ? fits : [...fits].sort((one, other) => Number(textOf(other).startsWith(first)) - Number(textOf(one).startsWith(first)))).slice(0, MAX_SHOWN);
};

export const Palette = ({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) => {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [agents, setAgents] = useState<readonly Agent[]>([]);
  const [sessions, setSessions] = useState<readonly Session[]>([]);
  const [settings, setSettings] = useState<readonly Setting[]>([]);
  const said = useSaid(typed);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const own = new AbortController();
    const { signal } = own;
    if (may('agents.read')) daemon.call('listAgents', { limit: 200 }, { signal }).then(({ items }) => setAgents(items), failed);
    if (has('chat') && may('sessions.read')) daemon.call('listSessions', { limit: RECENT, versions: 'chosen', sort: 'last_message_at' }, { signal }).then((page) => setSessions(page.sessions), failed);
    if (has('config')) daemon.call('listSettings', {}, { signal }).then((all) => setSettings(all.settings), failed);
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
  const known = useMemo(() => [...ownCommands(onShortcuts), ...agentCommands(agents), ...sessionCommands(sessions)], [agents, sessions, address.value]);
  // Settings are many: they are found by their names, and not listed.
  const commands = useMemo(() => [...found(typed.trim() === '' ? known : [...known, ...settingCommands(settings)], typed), ...said], [typed, known, settings, said]);
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
