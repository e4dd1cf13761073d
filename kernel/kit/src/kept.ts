/** What this browser keeps for its reader. It may be full, or keep nothing at all: then the page goes on without. */

/** Null where nothing is kept under this name. */
export const kept = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // switched off
  }
};

/** False where it could not be kept. Null takes away what was. */
export const keep = (name: string, text: string | null): boolean => {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
    return true;
  } catch {
    return false; // full, or switched off
  }
};
