/** Adds a style sheet of its own to the page, once. Resolves when it holds; without it, what it is for is still better than nothing. */
export const loadStyle = (href: string): Promise<void> =>
  new Promise((resolve) => {
    if (document.querySelector(`link[href="${CSS.escape(href)}"]`)) return resolve();
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = href;
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
