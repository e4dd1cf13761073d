/** Asking anew by a button. */
import { useState } from 'preact/hooks';
import type { Loaded } from './loading.js';

/** Pressed, it waits for the whole answer: a person sees that it was asked anew even where nothing changed. */
export const useAgain = <T>(loaded: Loaded<T>): { isAsking: boolean; again: () => void } => {
  const [before, setBefore] = useState<unknown>();
  const isAsking = before !== undefined && before === (loaded.error ?? loaded.data);
  return {
    isAsking,
    again: () => {
      setBefore(loaded.error ?? loaded.data);
      loaded.reload();
    },
  };
};
