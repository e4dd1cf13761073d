/** The keys of a provider, in the order in which its strategy prefers them. */
import type { Ids, SecretRef } from '@svc/api';
import type { ProviderRecord } from '@svc/ext-providers/contract';

export interface NamedKey {
  /** Never the key itself. Empty where there is only one. */
  readonly name: string;
  readonly ref: SecretRef | null;
}

export interface KeyOrder {
  of(record: ProviderRecord): readonly NamedKey[];
  used(provider: string, name: string): void;
}

const MAX_COUNTED = 2_000;

export const createKeyOrder = (ids: Pick<Ids, 'random'>): KeyOrder => {
  const uses = new Map<string, number>();
  const usesOf = (provider: string, name: string): number => uses.get(`${provider}\n${name}`) ?? 0;
  return {
    of: ({ name: provider, secret, keys, key_strategy: strategy }) => {
      if (!keys || keys.length < 2) return [{ name: '', ref: secret }];
      const named = keys.map(({ name, secret: ofKey, env }): NamedKey => ({ name, ref: { secret: ofKey, ...(env === undefined ? {} : { env }) } }));
      if (strategy === 'round_robin') {
        const turn = named.reduce((sum, { name }) => sum + usesOf(provider, name), 0) % named.length;
        return [...named.slice(turn), ...named.slice(0, turn)];
      }
      if (strategy === 'least_used') return named.toSorted((a, b) => usesOf(provider, a.name) - usesOf(provider, b.name));
      if (strategy === 'random')
        return named
          .map((key) => ({ key, at: ids.random() }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ key }) => key);
      return named;
    },
    used: (provider, name) => {
      if (name === '') return;
      if (uses.size >= MAX_COUNTED) uses.clear();
      uses.set(`${provider}\n${name}`, usesOf(provider, name) + 1);
    },
  };
};
