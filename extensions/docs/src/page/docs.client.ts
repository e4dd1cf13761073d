/** Asks the daemon for its document, the person for the key where one is needed, and lets Swagger UI show the rest. */
import { ClientError, createClient, SvcError } from '@svc/client';

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, key: string): void;
}
type ShowUi = (options: Readonly<Record<string, unknown>>) => SwaggerUi;
declare global {
  /** Of swagger-ui.js, which is loaded when there is a document to show. */
  var SwaggerUIBundle: ShowUi | undefined;
}

const part = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`The page has no ${id}.`);
  return found;
};

const page = {
  notice: part('notice', HTMLParagraphElement),
  again: part('again', HTMLButtonElement),
  changeKey: part('change-key', HTMLButtonElement),
  dialog: part('key-dialog', HTMLDialogElement),
  form: part('key-form', HTMLFormElement),
  key: part('key', HTMLInputElement),
  refused: part('key-refused', HTMLParagraphElement),
};

/** In memory only: neither in storage, nor in the address, nor in the document. */
let key: string | undefined;
const client = createClient({ baseUrl: location.origin, key: () => key });

const say = (text: string, mayRetry = false): void => {
  page.notice.textContent = text;
  page.notice.hidden = text === '';
  page.again.hidden = !mayRetry;
};

const load = async (): Promise<void> => {
  say('Reading the API of this daemon…');
  try {
    const api = await client.call('getOpenapi');
    page.changeKey.hidden = key === undefined;
    await show({ ...api, servers: [{ url: location.origin }] });
    say('');
  } catch (error) {
    if (error instanceof SvcError && error.status === 401) return askForKey();
    say(error instanceof ClientError ? error.message : 'The page could not be loaded. Reload it. If that does not help, check the browser console.', true);
    if (!(error instanceof ClientError)) throw error;
  }
};

const askForKey = (): void => {
  page.refused.hidden = key === undefined;
  key = undefined;
  say('');
  page.key.value = '';
  if (!page.dialog.open) page.dialog.showModal();
  page.key.focus();
};

const loadScript = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error(`${url} did not come`));
    };
    document.head.append(script);
  });

const show = async (spec: object): Promise<void> => {
  if (globalThis.SwaggerUIBundle === undefined) await loadScript('/docs/swagger-ui.js');
  const ui = globalThis.SwaggerUIBundle?.({
    spec,
    dom_id: '#api',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    operationsSorter: 'alpha',
    persistAuthorization: false,
    // It would show each document to a validator elsewhere.
    validatorUrl: null,
    onComplete: () => {
      if (key !== undefined) ui?.preauthorizeApiKey('bearer', key);
    },
  });
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = (): void => void document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

page.form.addEventListener('submit', (event) => {
  event.preventDefault();
  key = page.key.value.trim() || undefined;
  page.key.value = '';
  page.dialog.close();
  void load();
});
// Closed without a key there is nothing to show: the way back must stay.
page.dialog.addEventListener('cancel', () => say('Without the key of this daemon there is nothing to show.', true));
page.again.addEventListener('click', () => void load());
page.changeKey.addEventListener('click', askForKey);
void load();
