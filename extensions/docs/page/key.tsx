/** The key of the daemon, as the person typed it: in the memory of this page only, neither in storage nor in an address. */
import { Button, Dialog, signal, TextField, useState } from '@svc/kit';
import { t } from './docs-words.js';

const key = signal<string | undefined>(undefined);

export const keyNow = (): string | undefined => key.peek();
export const hasKey = (): boolean => key.value !== undefined;
export const forgetKey = (): void => {
  key.value = undefined;
};

export const KeyDialog = ({ wasRefused, onKey, onClose }: { wasRefused: boolean; onKey: () => void; onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  return (
    <Dialog title={t('key_title')} onClose={onClose}>
      <form
        class="stack"
        id="key-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() === '') return;
          key.value = typed.trim();
          onKey();
        }}
      >
        <p>{t('key_text')}</p>
        <TextField type="password" label={t('key')} value={typed} onValue={setTyped} error={wasRefused ? t('key_refused') : undefined} autocomplete="off" required autofocus />
        <div class="row">
          <Button kind="primary" icon="key" type="submit">
            {t('use_key')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
};
