/** What the open view is about, beyond the name of its panel: the title of the tab begins with it. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export const viewTitle = signal<string | undefined>(undefined);

/** For as long as the view is shown. */
export const useViewTitle = (title: string | undefined): void => {
  useEffect(() => {
    viewTitle.value = title;
    return () => {
      viewTitle.value = undefined;
    };
  }, [title]);
};
