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
  language,
  loadCaller,
  Loading,
  mustLogIn,
  Notices,
  Questions,
  render,
  startLive,
  useChanges,
  useEffect,
  useState,
} from '@svc/kit';
import { useAgentNotices } from './agent-notices.js';
import { Login } from './login.js';
import { followLaterLinks, followLoginLink } from './login-link.js';
import { Navigation } from './navigation.js';
import { shownPanel, Outlet } from './outlet.js';
import { Palette } from './palette.js';
import { askForPanels, listPanels, loadFirstPanel, loadPanels, panels, panelsError, readAfter } from './panels.js';
import { t } from './shell-words.js';

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Ctrl K for the commands; Alt and a digit for a panel. */
const useKeys = (toggleCommands: () => void): void => {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        toggleCommands();
        return;
      }
      const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
      const panel = event.altKey && digit && !isTyping(event.target) ? panels.value?.[Number(digit) - 1] : undefined;
      if (!panel) return;
      event.preventDefault();
      go(panel.id);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [toggleCommands]);
};

const Inside = () => {
  const [isNavOpen, setNavOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  useEffect(() => void listPanels(), []);
  // A socket that was refused is opened anew when the caller is known again. It tells what changed since the panels were listed.
  const isBegun = panels.value !== undefined || panelsError.value !== undefined;
  useEffect(() => (mustLogIn.value || !isBegun ? undefined : startLive(readAfter)), [mustLogIn.value, isBegun]);
  useChanges(['extension', 'auth'], () => void loadPanels());
  useAgentNotices();
  useEffect(() => setNavOpen(false), [address.value]);
  const toggle = (): void => setPaletteOpen((now) => !now);
  useKeys(toggle);
  const title = shownPanel()?.title[language.value] ?? 'svc';
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={skip}>
        {t('skip')}
      </a>
      <header class="bar">
        <IconButton icon="menu" label={t('menu')} aria-expanded={isNavOpen} aria-controls="navigation" onPress={() => setNavOpen(!isNavOpen)} />
        <span class="grow cut bar-title">{title}</span>
        <IconButton icon="search" label={t('commands')} onPress={toggle} />
      </header>
      {isNavOpen && <div class="nav-veil" onClick={() => setNavOpen(false)} />}
      <Navigation isOpen={isNavOpen} onCommands={toggle} />
      <main class="content" id="content" tabIndex={-1}>
        {connection.value === 'offline' && (
          <p class="offline" role="status">
            <Icon name="wifi-off" size={16} />
            {t('offline')}
          </p>
        )}
        <Outlet />
      </main>
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
    </div>
  );
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
  document.title = title === undefined ? 'svc' : `${title} · svc`;
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
