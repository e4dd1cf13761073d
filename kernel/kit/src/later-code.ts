/** Code that is loaded when it is needed for the first time: the page starts without it. */
import { useEffect, useState } from 'preact/hooks';

/** `load` is called once; `onFailed` is told of its failure, which is in `error` too. */
export const useCode = <T>(load: () => Promise<T>, onFailed?: (error: unknown) => void): { readonly code: T | undefined; readonly error: unknown } => {
  const [code, setCode] = useState<T>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    load().then(
      (loaded) => setCode(() => loaded),
      (cause: unknown) => {
        setError(cause);
        onFailed?.(cause);
      },
    );
  }, []);
  return { code, error };
};

/** A module that is built beside the kit, by its address: a name in a variable keeps it out of the kit's own file. */
export const besideKit = <T>(address: string): Promise<T> => import(address) as Promise<T>; // what is built under this address
