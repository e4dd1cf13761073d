/** What is different, before it is saved; and what somebody else changed meanwhile. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Draft } from '../draft.js';
import { kitWords } from '../kit-words.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { DiffView } from './diff-view.js';
import { Icon } from './icon.js';
import { Failure } from './states.js';

/** Asks with the difference on the screen. What `onSave` rejects with is shown there, and the question stays. */
export const Review = ({
  title,
  before,
  after,
  action,
  onSave,
  onClose,
  children,
}: {
  title: string;
  before: string;
  after: string;
  action: string;
  onSave: () => Promise<unknown>;
  onClose: () => void;
  children?: ComponentChildren;
}) => {
  const [error, setError] = useState<unknown>();
  const save = async (): Promise<void> => {
    setError(undefined);
    await onSave().catch(setError);
  };
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{kitWords('cancel')}</Button>
          <Button kind="primary" icon="save" disabled={before === after} onPress={save}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && <Failure title={kitWords('not_saved')} error={error} />}
      <DiffView before={before} after={after} label={kitWords('difference')} />
    </Dialog>
  );
};

/** Nothing, unless what the draft began from was changed elsewhere. */
export const ChangedElsewhere = <T,>({ draft, textOf }: { draft: Draft<T>; textOf: (value: T) => string }) => {
  if (draft.theirs === undefined) return null;
  return (
    <div class="changed-elsewhere" role="alert">
      <p class="row">
        <Icon name="triangle-alert" />
        <strong>{kitWords('changed_elsewhere')}</strong>
      </p>
      <p>{kitWords('changed_elsewhere_text')}</p>
      <DiffView before={textOf(draft.base)} after={textOf(draft.theirs)} label={kitWords('changed_difference')} />
      <div class="row wrap">
        <Button kind="primary" onPress={draft.goOn}>
          {kitWords('go_on')}
        </Button>
        <Button onPress={draft.drop}>{kitWords('take_theirs')}</Button>
      </div>
    </div>
  );
};
