/** The buttons that change an extension. */
import { Button, confirmed, daemon, go, may, Menu, needs, notify, useState } from '@svc/kit';
import { type Action, change } from './changing.js';
import { RemoveDialog, UpgradeDialog } from './installing.js';
import type { Extension } from './state.js';
import { t } from './words.js';

export interface Known {
  readonly all: readonly Extension[];
  readonly panels: ReadonlyArray<{ extension: string; title: string }>;
  readonly onChanged: () => void;
}

const PERMISSION = 'extensions.admin';

const doing =
  (name: string, { all, panels, onChanged }: Known) =>
  async (action: Action): Promise<void> => {
    try {
      await change(action, name, all, panels);
    } finally {
      // What failed may have changed as well.
      onChanged();
    }
  };

const isOn = ({ intent, state }: Extension): boolean => intent.enabled || state === 'active';
const canReset = ({ state, intent }: Extension): boolean => state === 'failed' || state === 'quarantined' || intent.decidedBy === 'choice';
const isBroken = ({ state }: Extension): boolean => state === 'failed' || state === 'quarantined';

/** In a list. */
export const RowSwitches = ({ extension, known }: { extension: Extension; known: Known }) => {
  const act = doing(extension.id, known);
  const isAllowed = may(PERMISSION);
  const items = [
    { id: 'reload', label: t('reload'), icon: 'refresh-cw' as const, disabled: !isAllowed || extension.state === 'inactive', onChoose: () => act('reload') },
    ...(canReset(extension) ? [{ id: 'reset', label: isBroken(extension) ? t('reset') : t('forget'), icon: 'rotate-ccw' as const, disabled: !isAllowed, onChoose: () => act('reset') }] : []),
  ];
  return (
    <span class="row extension-switches">
      <Button small icon="power" onPress={() => act(isOn(extension) ? 'disable' : 'enable')} {...needs(PERMISSION)}>
        {isOn(extension) ? t('disable') : t('enable')}
        <span class="off-screen"> {extension.id}</span>
      </Button>
      <Menu label={t('more_of', { name: extension.id })} items={items} />
    </span>
  );
};

/** Of the one that is open. */
export const HeadSwitches = ({ extension, known }: { extension: Extension; known: Known }) => {
  const act = doing(extension.id, known);
  return (
    <>
      {isBroken(extension) && (
        <Button kind="primary" icon="rotate-ccw" onPress={() => act('reset')} {...needs(PERMISSION)}>
          {t('reset')}
        </Button>
      )}
      {extension.state !== 'inactive' && (
        <Button icon="refresh-cw" onPress={() => act('reload')} {...needs(PERMISSION)}>
          {t('reload')}
        </Button>
      )}
      {!isBroken(extension) && canReset(extension) && (
        <Button icon="rotate-ccw" onPress={() => act('reset')} {...needs(PERMISSION)}>
          {t('forget')}
        </Button>
      )}
      <Button icon="power" kind={isOn(extension) ? 'danger' : 'primary'} onPress={() => act(isOn(extension) ? 'disable' : 'enable')} {...needs(PERMISSION)}>
        {isOn(extension) ? t('disable') : t('enable')}
      </Button>
      {extension.origin !== null && <OfSomebodyElse name={extension.id} onChanged={known.onChanged} />}
    </>
  );
};

/** What can be done with what somebody installed. */
const OfSomebodyElse = ({ name, onChanged }: { name: string; onChanged: () => void }) => {
  const [asked, setAsked] = useState<'upgrade' | 'remove'>();
  const close = (): void => setAsked(undefined);
  const isAllowed = may(PERMISSION);
  const rollBack = async (): Promise<void> => {
    if (!(await confirmed({ title: t('rollback_title', { name }), text: t('rollback_text'), action: t('rollback') }))) return;
    await daemon.call('rollbackExtension', { name });
    notify(t('was_rolled_back', { name }));
    onChanged();
  };
  const done = (): void => {
    close();
    onChanged();
  };
  return (
    <>
      <Menu
        label={t('more_of', { name })}
        items={[
          { id: 'upgrade', label: t('upgrade'), icon: 'refresh-cw', disabled: !isAllowed, onChoose: () => setAsked('upgrade') },
          { id: 'rollback', label: t('rollback'), icon: 'rotate-ccw', disabled: !isAllowed, onChoose: rollBack },
          { id: 'remove', label: t('remove'), icon: 'trash-2', isDangerous: true, disabled: !isAllowed, onChoose: () => setAsked('remove') },
        ]}
      />
      {asked === 'upgrade' && <UpgradeDialog name={name} onClose={close} onDone={done} />}
      {asked === 'remove' && (
        <RemoveDialog
          name={name}
          onClose={close}
          onDone={() => {
            done();
            go('extensions');
          }}
        />
      )}
    </>
  );
};
