/** The page at /docs: asks the daemon for its document, the person for the key where one is needed, and shows the operations. */
import './docs.css';
import { createClient, SvcError } from '@svc/client';
import { address, Button, ClientError, effect, Icon, IconButton, isDark, language, Loading, Notices, PanelBody, render, setTheme, signal, useEffect, useState, viewTitle } from '@svc/kit';
import { t } from './docs-words.js';
import { forgetKey, hasKey, KeyDialog, keyNow } from './key.js';
import { type Api, type RawDocument, readApi } from './openapi.js';
import { OperationIndex } from './operation-index.js';
import { Place } from './place.js';
import { ApiContext } from './prose.js';

const client = createClient({ baseUrl: location.origin, key: keyNow });

type State = { readonly is: 'loading' } | { readonly is: 'shown'; readonly api: Api } | { readonly is: 'asking'; readonly wasRefused: boolean } | { readonly is: 'failed'; readonly why: string };
const state = signal<State>({ is: 'loading' });

const load = async (): Promise<void> => {
  const hadKey = keyNow() !== undefined;
  state.value = { is: 'loading' };
  try {
    const document = await client.call('getOpenapi');
    state.value = { is: 'shown', api: readApi(document as RawDocument) }; // its type says no more than that it is an OpenAPI document
  } catch (error) {
    if (error instanceof SvcError && error.status === 401) {
      forgetKey();
      state.value = { is: 'asking', wasRefused: hadKey };
      return;
    }
    state.value = { is: 'failed', why: error instanceof ClientError ? error.message : t('broken') };
    if (!(error instanceof ClientError)) throw error;
  }
};

const askForKey = (): void => {
  forgetKey();
  state.value = { is: 'asking', wasRefused: false };
};

/** The focus follows a link of the index to what it leads to. */
const useFocusAtPlace = (): void => {
  const { panel, path } = address.value;
  const [first] = useState(address.peek());
  useEffect(() => {
    if (address.peek() === first) return;
    const content = document.getElementById('content');
    content?.scrollTo(0, 0);
    content?.querySelector('h1')?.focus({ preventScroll: true });
  }, [panel, path[0]]);
};

const Shown = ({ api, isIndexOpen, onPlace }: { api: Api; isIndexOpen: boolean; onPlace: () => void }) => {
  const [typed, setTyped] = useState('');
  useFocusAtPlace();
  useEffect(onPlace, [address.value]);
  return (
    <ApiContext.Provider value={api}>
      <OperationIndex isOpen={isIndexOpen} typed={typed} onTyped={setTyped} />
      <main class="docs-content" id="content" tabIndex={-1}>
        <Place />
      </main>
    </ApiContext.Provider>
  );
};

const Waits = ({ now }: { now: Exclude<State, { is: 'shown' }> }) => (
  <main class="docs-content" id="content" tabIndex={-1}>
    <PanelBody>
      {now.is === 'loading' && <Loading lines={6} label={t('reading')} />}
      {now.is === 'asking' && <KeyDialog wasRefused={now.wasRefused} onKey={() => void load()} onClose={() => (state.value = { is: 'failed', why: t('no_key') })} />}
      {now.is === 'failed' && (
        <div class="stack" role="alert">
          <p>{now.why}</p>
          <p>
            <Button icon="refresh-cw" onPress={() => void load()}>
              {t('retry')}
            </Button>
          </p>
        </div>
      )}
    </PanelBody>
  </main>
);

const skip = (event: MouseEvent): void => {
  event.preventDefault();
  document.getElementById('content')?.focus();
};

const Page = () => {
  const now = state.value;
  const [isIndexOpen, setIndexOpen] = useState(false);
  return (
    <div class="docs">
      <a class="skip" href="#content" onClick={skip}>
        {t('skip')}
      </a>
      <header class="docs-bar">
        <span class="docs-menu">
          <IconButton icon="menu" label={t('menu')} aria-expanded={isIndexOpen} aria-controls="index" onPress={() => setIndexOpen(!isIndexOpen)} />
        </span>
        <a class="grow docs-title" href="#/">
          {t('title')}
        </a>
        {hasKey() && (
          <Button small kind="quiet" icon="key" onPress={askForKey}>
            {t('other_key')}
          </Button>
        )}
        <IconButton icon={isDark.value ? 'sun' : 'moon'} label={t('theme')} onPress={() => setTheme(isDark.value ? 'light' : 'dark')} />
        <a class="button icon-only quiet" href="/" aria-label={t('home')} title={t('home')}>
          <Icon name="home" />
        </a>
      </header>
      {now.is === 'shown' ? <Shown api={now.api} isIndexOpen={isIndexOpen} onPlace={() => setIndexOpen(false)} /> : <Waits now={now} />}
      <Notices />
    </div>
  );
};

effect(() => {
  const { panel } = address.value;
  document.title = [viewTitle.value ?? (panel === '' ? undefined : panel), 'svc API'].filter((part) => part !== undefined).join(' · ');
  document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en';
});

const root = document.getElementById('page');
if (!root) throw new TypeError('The page has no place to draw in.');
render(<Page />, root);
void load();
