/** A conversation, and beside it what was opened of it; where there is no room for both, that lies over the conversation. */
import { type ComponentChildren, failed, signal, useEffect } from '@svc/kit';
import { closeBeside, wanted } from './beside.js';
import type { Turn } from './turns.js';
import { isWide } from './wide.js';

type View = typeof import('./artifact-view.js')['ArtifactView'];

/** Its code comes when something is opened for the first time. */
const view = signal<{ readonly ArtifactView: View } | undefined>(undefined);

const bring = async (): Promise<void> => {
  if (view.peek()) return;
  try {
    const { ArtifactView } = await import('./artifact-view.js');
    view.value = { ArtifactView };
  } catch (error) {
    closeBeside();
    failed(error);
  }
};

export const BesideLayout = ({ turns, children }: { turns: readonly Turn[]; children: ComponentChildren }) => {
  const hasRoom = isWide.value;
  const { value: open } = wanted;
  useEffect(() => {
    if (open) void bring();
  }, [open]);
  useEffect(
    () => () => {
      wanted.value = undefined;
    },
    [],
  );
  const { ArtifactView } = view.value ?? {};
  const isShown = open !== undefined && ArtifactView !== undefined;
  return (
    <div class="beside-layout">
      <div class="beside-main" inert={isShown && !hasRoom}>
        {children}
      </div>
      {isShown && <ArtifactView wanted={open} turns={turns} isSheet={!hasRoom} />}
    </div>
  );
};
