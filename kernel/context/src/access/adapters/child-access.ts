/** `exec`, `spawn`, `pty`, `sandbox` and `endSurvivors`: which programs, and whose children they are. */
import type { ExtensionContext, SpawnOptions } from '@svc/api';
import { secretErrors } from '@svc/platform/adapters/errors';
import type { SecretsAdapter } from '@svc/platform/adapters/secrets-adapter';
import type { Member } from '../../parts.js';

type Secrets = Pick<ReturnType<SecretsAdapter['limited']>, 'resolve'>;

export const childMembers = ({ parts, owner, grants, alive }: Member, secrets: Secrets): Pick<ExtensionContext, 'exec' | 'spawn' | 'pty' | 'sandbox' | 'endSurvivors'> => {
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
      const { secretEnv, isUnconfined, ...rest } = options;
      admit(command, { ...rest.env, ...Object.fromEntries(Object.keys(secretEnv ?? {}).map((name) => [name, ''])) });
      const env = { ...rest.env, ...(await valuesOf(secrets, secretEnv)) };
      if (isUnconfined) await parts.ownerKey.need(`the program ${command}, which runs without a sandbox,`);
      alive();
      const { signal } = owner.lifetime;
      const child = await parts.execAdapter.spawn(owner.id, command, args, { ...rest, env, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal }, mostChildren(grants));
      const owned = owner.lifetime.add(`child ${child.pid} (${command})`, async () => void (await child.kill()));
      void child.exit.then(() => owned.dispose());
      return child;
    },
    pty: {
      open: async (command, args, options) => {
        alive();
        grants.need('pty');
        await parts.ownerKey.need(`the program ${command}, which runs in a terminal,`);
        alive();
        const { signal } = owner.lifetime;
        const pty = await parts.execAdapter.openPty(owner.id, command, args, { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal });
        const owned = owner.lifetime.add(`terminal ${pty.pid} (${command})`, async () => void (await pty.kill()));
        void pty.exit.then(() => owned.dispose());
        return pty;
      },
      state: async () => {
        alive();
        grants.need('pty');
        return parts.execAdapter.ptyState();
      },
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

/** Undefined for the number that every extension has. */
const mostChildren = (grants: Member['grants']): number | undefined => {
  const granted = grants.of('children').map(Number);
  return granted.length === 0 ? undefined : Math.max(...granted);
};

const valuesOf = async ({ resolve }: Secrets, refs: SpawnOptions['secretEnv'] = {}): Promise<Record<string, string>> => {
  const values: Record<string, string> = {};
  for (const [name, ref] of Object.entries(refs)) {
    const value = await resolve(ref);
    if (value === undefined) throw secretErrors.missing(ref.secret, ref.env);
    values[name] = value;
  }
  return values;
};
