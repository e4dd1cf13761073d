/** `exec`, `spawn`, `sandbox` and `endSurvivors`: which programs, and whose children they are. */
import type { ExtensionContext } from '@svc/api';
import type { Member } from '../../parts.js';

export const childMembers = ({ parts, owner, grants, alive }: Member): Pick<ExtensionContext, 'exec' | 'spawn' | 'sandbox' | 'endSurvivors'> => {
  const admit = (command: string, env: Readonly<Record<string, string>> = {}): void => {
    alive();
    grants.need('exec', command);
    // A program of that name found elsewhere is another program.
    if (!grants.has('exec') && Object.keys(env).some((name) => name.toUpperCase() === 'PATH')) grants.need('exec');
  };
  return {
    exec: async (command, args, options) => {
      admit(command, options.env);
      return parts.execAdapter.exec(command, args, options);
    },
    spawn: async (command, args, options) => {
      admit(command, options.env);
      const { signal } = owner.lifetime;
      const child = await parts.execAdapter.spawn(owner.id, command, args, { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal });
      const owned = owner.lifetime.add(`child ${child.pid} (${command})`, async () => void (await child.kill()));
      void child.exit.then(() => owned.dispose());
      return child;
    },
    sandbox: async () => {
      alive();
      if (!grants.has('exec') && grants.of('exec').length === 0) grants.need('exec');
      return parts.execAdapter.sandbox();
    },
    endSurvivors: async (key) => {
      alive();
      if (!grants.has('exec')) grants.need('survivors');
      return parts.execAdapter.endSurvivors(key);
    },
  };
};
