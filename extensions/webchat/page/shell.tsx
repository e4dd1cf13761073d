/** The page: its navigation, the panel that is open, and what lies above both. */
import './shell.css';
import {
  address,
  caller,
  connection,
  effect,
  failed,
  go,
  Icon,
  IconButton,
  keep,
  kept,
  language,
  loadCaller,
  Loading,
  mustLogIn,
  Notices,
  Questions,
  render,
  runShortcut,
  type ShortcutGroup,
  signal,
  startLive,
  useChanges,
  useCode,
  useEffect,
  useRef,
  useShortcuts,
  useState,
  viewTitle,
  withCtrl,
} from '@svc/kit';
import { useAgentNotices, useDeviceMessages } from './agent-notices.js';
import { Login } from './login.js';
import { keepFocus } from './kept-focus.js';
import { followLaterLinks, followLoginLink } from './login-link.js';
import { Navigation } from './navigation.js';
import { hubs, firstOf, shownPanel, visited, waitingIn } from './hubs.js';
import { HubTabs } from './hub-tabs.js';
import { Outlet } from './outlet.js';
import type { Palette } from './palette.js';
import { askForPanels, listPanels, loadFirstPanel, loadPanels, panels, panelsError, readAfter } from './panels.js';
import { t } from './shell-words.js';

type Above = 'commands' | 'shortcuts';

/** What lies above the page, and is loaded when somebody wants it. */
const LATER = { commands: () => import('./palette.js').then(({ Palette }) => Palette), shortcuts: () => import('./shortcut-list.js').then(({ ShortcutList }) => ShortcutList) };

const above = signal<Above | undefined>(undefined);

const toggle = (which: Above): void => {
  above.value = above.peek() === which ? undefined : which;
};

const Above = ({ which }: { which: Above }) => {
  const [View, setView] = useState<typeof Palette>();
  useEffect(() => void LATER[which]().then((view) => setView(() => view), failed), []);
  return View ? <View onClose={() => (above.value = undefined)} onShortcuts={() => (above.value = 'shortcuts')} /> : null;
};

const goByDigit = (event: KeyboardEvent): void => {
  const hub = hubs.value[Number(event.code.at(-1)) - 1];
  if (hub) go(firstOf(hub));
};

const SHORTCUTS: ShortcutGroup = {
  title: () => t('shortcuts_page'),
  shortcuts: [
    { keys: 'Ctrl K', label: () => t('shortcut_commands'), fits: withCtrl('k'), run: () => toggle('commands') },
    { keys: '?', label: () => t('shortcut_help'), fits: ({ key }) => key === '?', run: () => toggle('shortcuts') },
    { keys: 'Alt 1…9', label: () => t('shortcut_go'), fits: ({ altKey, code }) => altKey && /^Digit[1-9]$/.test(code), run: goByDigit },
  ],
};

/** One listener for all that is registered. */
const useKeys = (): void => {
  useShortcuts(SHORTCUTS);
  useEffect(() => {
    addEventListener('keydown', runShortcut);
    return () => removeEventListener('keydown', runShortcut);
  }, []);
};

/** Remembers that the navigation shows icons alone. */
const NAV_SMALL = 'svc.nav.small';

const Inside = () => {
  const [isNavOpen, setNavOpen] = useState(false);
  const content = useRef<HTMLElement>(null);
  useEffect(() => (content.current ? keepFocus(content.current) : undefined), []);
  const [isSmall, setSmall] = useState(() => kept(NAV_SMALL) !== null);
  useEffect(() => void listPanels(), []);
  // A socket that was refused is opened anew when the caller is known again. It tells what changed since the panels were listed.
  const isBegun = panels.value !== undefined || panelsError.value !== undefined;
  useEffect(() => (mustLogIn.value || !isBegun ? undefined : startLive(readAfter)), [mustLogIn.value, isBegun]);
  useChanges(['extension', 'auth'], () => void loadPanels());
  useAgentNotices();
  const shown = shownPanel();
  useEffect(() => (shown ? visited(shown) : undefined), [shown?.id]);
  useDeviceMessages();
  useEffect(() => setNavOpen(false), [address.value]);
  useKeys();
  const onCommands = (): void => toggle('commands');
  const title = shown?.title[language.value] ?? 'svc';
  return (
    <div class={isSmall ? 'shell nav-small' : 'shell'}>
      <a class="skip" href="#content" onClick={skip}>
        {t('skip')}
      </a>
      <header class="bar">
        <IconButton icon="menu" label={t('menu')} aria-expanded={isNavOpen} aria-controls="navigation" onPress={() => setNavOpen(!isNavOpen)} />
        <span class="grow cut bar-title">{title}</span>
        <IconButton icon="search" label={t('commands')} onPress={onCommands} />
      </header>
      {isNavOpen && <div class="nav-veil" onClick={() => setNavOpen(false)} />}
      <Navigation
        isOpen={isNavOpen}
        isSmall={isSmall}
        onSmall={() => {
          keep(NAV_SMALL, isSmall ? null : 'yes');
          setSmall(!isSmall);
        }}
        onCommands={onCommands}
      />
      <HubTabs />
      <main class="content" id="content" tabIndex={-1} ref={content}>
        {connection.value === 'offline' && (
          <p class="offline" role="status">
            <Icon name="wifi-off" size={16} />
            {t('offline')}
          </p>
        )}
        <Outlet />
      </main>
      {isBegun && <WaitingLater />}
      {above.value && <Above key={above.value} which={above.value} />}
    </div>
  );
};

/** What waits is counted once the page stands. */
const WaitingLater = () => {
  const { code } = useCode(() => import('./waiting.js'));
  return code ? <code.Waiting /> : null;
};

const skip = (event: MouseEvent): void => {
  event.preventDefault();
  document.getElementById('content')?.focus();
};

/** Whoever is asked for the key again, because it was taken away, finds what they typed behind that. */
const Page = () => {
  const [isInside, setInside] = useState(() => caller.peek()?.isKnown === true);
  useEffect(() => {
    if (caller.value?.isKnown) setInside(true);
  }, [caller.value]);
  if (caller.value === undefined && !mustLogIn.value)
    return (
      <main class="login">
        <Loading />
      </main>
    );
  const asks = mustLogIn.value || !caller.value?.isKnown;
  return (
    <>
      {asks && <Login />}
      {isInside && (
        <div hidden={asks} inert={asks}>
          <Inside />
        </div>
      )}
      <Notices />
      <Questions />
    </>
  );
};

effect(() => {
  const title = shownPanel()?.title[language.value];
  const count = waitingIn(panels.value ?? []);
  document.title = [viewTitle.value, title, 'svc'].filter((part) => part !== undefined).join(' · ');
  if (count > 0) document.title = `(${count}) ${document.title}`;
  document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en';
});

const FIRST_WAIT_MS = 1_000;
/** What comes sooner is drawn once and whole, without a sign of waiting before it. */
const DRAWN_BY_MS = 500;

const draw = (): void => {
  clearTimeout(drawAtLatest);
  const root = document.getElementById('page');
  if (!root || root.dataset['drawn'] === 'yes') return;
  root.dataset['drawn'] = 'yes';
  root.replaceChildren();
  render(<Page />, root);
};
const drawAtLatest = setTimeout(draw, DRAWN_BY_MS);

/** A page that was opened while the daemon starts waits for it. */
const begin = (): void => {
  askForPanels();
  followLoginLink()
    .then(loadCaller)
    .then(listPanels)
    .then(draw, (error: unknown) => {
      failed(error);
      setTimeout(begin, FIRST_WAIT_MS);
    });
};

followLaterLinks();
begin();
loadFirstPanel();
