/** The panels by their places, and what is about the page itself. */
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
} from '@svc/kit';
import { shownPanel } from './outlet.js';
import { panels, PLACES } from './panels.js';
import { t } from './shell-words.js';

const THEMES: ReadonlyArray<readonly [Theme, IconName]> = [
  ['system', 'monitor'],
  ['light', 'sun'],
  ['dark', 'moon'],
];

const languages = Object.keys(LANGUAGES) as Language[]; // the keys of that very object

const endSession = async (): Promise<void> => {
  await daemon.call('endLogin');
  await loadCaller();
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
        <Icon name="book-open" />
      </a>
      {caller.value?.hasSession && <IconButton icon="log-out" label={t('log_out')} onPress={endSession} />}
    </div>
    {caller.value && (
      <p class="muted small-text">{t('you', { role: caller.value.name && caller.value.name !== caller.value.role ? `${caller.value.name} (${caller.value.role})` : caller.value.role })}</p>
    )}
  </div>
);

export const Navigation = ({ isOpen, isSmall, onSmall, onCommands }: { isOpen: boolean; isSmall: boolean; onSmall: () => void; onCommands: () => void }) => {
  const open = shownPanel()?.id;
  return (
    <nav class={isOpen ? 'nav open' : 'nav'} aria-label={t('navigation')} id="navigation">
      <a class="nav-brand" href="#/">
        <img src="/ui/icon.svg" alt="" width="24" height="24" />
        <span class="nav-text">svc</span>
      </a>
      <span class="nav-collapse">
        <IconButton icon="panel-left" label={t(isSmall ? 'widen' : 'narrow')} aria-expanded={!isSmall} onPress={onSmall} />
      </span>
      <div class="nav-places">
        {PLACES.map((place) => {
          const own = (panels.value ?? []).filter((panel) => panel.place === place);
          if (own.length === 0) return null;
          return (
            <section key={place} aria-label={t(place)}>
              <h2 class="nav-title">{t(place)}</h2>
              <ul class="nav-list">
                {own.map((panel) => (
                  <li key={panel.id}>
                    <a href={addressOf(panel.id)} title={isSmall ? panel.title[language.value] : undefined} aria-current={panel.id === open ? 'page' : undefined}>
                      <Icon name={iconNamed(panel.icon)} />
                      <span class="nav-text">{panel.title[language.value]}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
      <OfThePage onCommands={onCommands} />
    </nav>
  );
};
