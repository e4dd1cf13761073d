/** A form that asks before anything goes on. What is refused is said in it, and what was typed stays. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { kitWords } from '../kit-words.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { Failure } from './states.js';

export const FormDialog = ({
  title,
  action,
  onSubmit,
  onClose,
  onCancel = onClose,
  children,
  canSubmit = true,
  wide = false,
}: {
  title: string;
  /** What the button says that submits it. */
  action: string;
  /** What it rejects with is shown; who closes the dialog when it is done is the caller. */
  onSubmit: () => Promise<unknown>;
  onClose: () => void;
  /** Where what was typed stays when the dialog is only closed: gives it up. */
  onCancel?: () => void;
  children: ComponentChildren;
  canSubmit?: boolean;
  wide?: boolean;
}) => {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy || !canSubmit) return;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      wide={wide}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onCancel}>{kitWords('cancel')}</Button>
          <Button kind="primary" type="submit" form={id} isBusy={isBusy} disabled={!canSubmit && !isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} class="stack" onSubmit={submit}>
        {children}
        {error !== undefined && <Failure title="" error={error} />}
      </form>
    </Dialog>
  );
};
