/** Whether there is room for something beside the conversation (chat.css has the same width). */
import { useEffect, useState } from '@svc/kit';

const WIDE = matchMedia('(min-width: 72rem)');

export const useWide = (): boolean => {
  const [isWide, setWide] = useState(WIDE.matches);
  useEffect(() => {
    const change = (): void => setWide(WIDE.matches);
    WIDE.addEventListener('change', change);
    return () => WIDE.removeEventListener('change', change);
  }, []);
  return isWide;
};
