/** All keys that do something here and now, as they are registered. */
import { Dialog, shortcutGroups } from '@svc/kit';
import { t } from './shell-words.js';

export const ShortcutList = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t('shortcuts')} onClose={onClose}>
    {shortcutGroups.value.map(({ title, shortcuts }) => (
      <section key={title()} class="stack" aria-label={title()}>
        <h3>{title()}</h3>
        <dl class="shortcuts">
          {shortcuts.map(({ keys, label }) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{label()}</dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </Dialog>
);
