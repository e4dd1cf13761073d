/** Names and addresses by which a machine calls itself: nobody else reaches what listens there. */
export const isLoopbackName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost') || name === '::1' || name === '::ffff:127.0.0.1' || /^127(\.\d{1,3}){3}$/.test(name);
