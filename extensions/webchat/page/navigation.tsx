/** The hubs and their panels, what was pinned and open lately, and what is about the page itself. */
import {
  addressOf,
  caller,
  chooseLanguage,
  connection,
  daemon,
  Icon,
  iconNamed,
  type IconName,
  IconButton,
  type Language,
  language,
  LANGUAGES,
  loadCaller,
  Menu,
  setTheme,
  theme,
  type Theme,
  useEffect,
  useRef,
} from '@svc/kit';
import { firstOf, type Hub, hubs, isUnfolded, notifying, openHub, pins, recent, shownPanel, toggleFold, waiting, waitingIn } from './hubs.js';
import type { Panel } from './panels.js';
import { t } from './shell-words.js';

const MAX_COUNT = 99;

const THEMES: ReadonlyArray<readonly [Theme, IconName]> = [
  ['system', 'monitor'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

const languages = Object.keys(LANGUAGES) as Language[]; // the keys of that very object

const endSession = async (): Promise<void> => {
  const { logout_url: url } = await daemon.call('endLogin');
  // The provider that this person signed in at has a session of its own.
  if (url === undefined) await loadCaller();
  else location.assign(url);
};

const OfThePage = ({ onCommands }: { onCommands: () => void }) => (
  <div class="nav-foot">
    <p class={`nav-state ${connection.value}`} role="status">
      <span class="dot" aria-hidden="true" />
      {connection.value === 'live' ? t('live') : t('connecting')}
    </p>
    <div class="row">
      <IconButton icon="search" label={`${t('commands')} (Ctrl K)`} onPress={onCommands} />
      <Menu
        label={t('theme')}
        icon={theme.value === 'system' ? 'monitor' : theme.value === 'dark' ? 'moon' : 'sun'}
        align="start"
        items={THEMES.map(([id, icon]) => ({ id, icon, label: t(`theme_${id}`), isChosen: theme.value === id, onChoose: () => setTheme(id) }))}
      />
      <Menu label={t('language')} icon="languages" align="start" items={languages.map((id) => ({ id, label: LANGUAGES[id], isChosen: language.value === id, onChoose: () => chooseLanguage(id) }))} />
      <a class="button icon-only quiet" href="/docs" target="_blank" rel="noopener" aria-label={t('docs')} title={t('docs')}>
        <Icon name="circle-help" />
      </a>
      {notifying.value && <IconButton icon="bell" label={t(notifying.value.isOn ? 'notify_off' : 'notify_on')} aria-pressed={notifying.value.isOn} onPress={notifying.value.onSwitch} />}
      {caller.value?.hasSession && <IconButton icon="log-out" label={t('log_out')} onPress={endSession} />}
    </div>
    {caller.value && (
      <p class="muted small-text">{t('you', { role: caller.value.name && caller.value.name !== caller.value.role ? `${caller.value.name} (${caller.value.role})` : caller.value.role })}</p>
    )}
  </div>
);

/** How much waits for the reader; nothing where that is nothing. */
export const Count = ({ of = 0 }: { of?: number | undefined }) =>
  of > 0 ? (
    <span class="nav-count">
      <span aria-hidden="true">{of > MAX_COUNT ? `${MAX_COUNT}+` : of}</span>
      <span class="off-screen">{t('waiting', { count: of })}</span>
    </span>
  ) : null;

interface EntryProps {
  readonly href: string;
  readonly icon?: IconName;
  readonly title: string;
  readonly count?: number | undefined;
  readonly isCurrent: boolean;
  readonly isSmall: boolean;
}

const Entry = ({ href, icon, title, count, isCurrent, isSmall }: EntryProps) => (
  <a href={href} title={isSmall ? title : undefined} aria-current={isCurrent ? 'page' : undefined}>
    {icon && <Icon name={icon} />}
    <span class="nav-text grow cut">{title}</span>
    <Count of={count} />
  </a>
);

const PanelEntries = ({ label, panels: shown, isSmall, withIcons = true }: { label: string; panels: readonly Panel[]; isSmall: boolean; withIcons?: boolean }) => {
  const open = shownPanel();
  return (
    <ul class="nav-list" aria-label={label}>
      {shown.map((panel) => (
        <li key={panel.id}>
          <Entry
            href={addressOf(panel.id)}
            {...(withIcons ? { icon: iconNamed(panel.icon) } : {})}
            title={panel.title[language.value]}
            count={waiting.value[panel.id]}
            isCurrent={panel === open}
            isSmall={isSmall}
          />
        </li>
      ))}
    </ul>
  );
};

const HubEntry = ({ hub, isSmall }: { hub: Hub; isSmall: boolean }) => {
  // A lone panel of another area is found by its own name.
  const [lone] = hub.id === 'more' && hub.panels.length === 1 ? hub.panels : [];
  const name = lone?.title[language.value] ?? t(`hub_${hub.id}`);
  const isOpen = isUnfolded(hub.id) && hub.panels.length > 1;
  return (
    <li>
      <div class="nav-hub">
        <Entry href={addressOf(firstOf(hub))} icon={hub.icon} title={name} count={isOpen ? 0 : waitingIn(hub.panels)} isCurrent={openHub() === hub.id} isSmall={isSmall} />
        {hub.panels.length > 1 && (
          <button type="button" class="nav-fold" aria-expanded={isOpen} aria-label={t('panels_of', { hub: name })} title={t('panels_of', { hub: name })} onClick={() => toggleFold(hub.id)}>
            <Icon name="chevron-right" size={16} />
          </button>
        )}
      </div>
      {isOpen && <PanelEntries label={name} panels={hub.panels} isSmall={isSmall} withIcons={false} />}
    </li>
  );
};

/** Pinned panels, the hubs, and panels that were open lately. */
const Entries = ({ isSmall }: { isSmall: boolean }) => {
  const place = useRef<HTMLDivElement>(null);
  const open = shownPanel();
  useEffect(() => place.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [open?.id, hubs.value.length]);
  const [pinned, lately] = [pins(), recent()];
  return (
    <div class="nav-places" ref={place}>
      {pinned.length > 0 && (
        <section aria-label={t('pinned')}>
          <h2 class="nav-title">{t('pinned')}</h2>
          <PanelEntries label={t('pinned')} panels={pinned} isSmall={isSmall} />
        </section>
      )}
      <ul class="nav-list" aria-label={t('hubs')}>
        {hubs.value.map((hub) => (
          <HubEntry key={hub.id} hub={hub} isSmall={isSmall} />
        ))}
      </ul>
      {lately.length > 0 && (
        <section class="nav-recent" aria-label={t('recent')}>
          <h2 class="nav-title">{t('recent')}</h2>
          <PanelEntries label={t('recent')} panels={lately} isSmall={isSmall} />
        </section>
      )}
    </div>
  );
};

export const Navigation = ({ isOpen, isSmall, onSmall, onCommands }: { isOpen: boolean; isSmall: boolean; onSmall: () => void; onCommands: () => void }) => (
  <nav class={isOpen ? 'nav open' : 'nav'} aria-label={t('navigation')} id="navigation">
    <a class="nav-brand" href="#/">
      <img src="/ui/icon.svg" alt="" width="24" height="24" />
      <span class="nav-text">svc</span>
    </a>
    <span class="nav-collapse">
      <IconButton icon="panel-left" label={t(isSmall ? 'widen' : 'narrow')} aria-expanded={!isSmall} onPress={onSmall} />
    </span>
    <Entries isSmall={isSmall} />
    <OfThePage onCommands={onCommands} />
  </nav>
);
