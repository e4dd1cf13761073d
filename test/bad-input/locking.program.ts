/** Another program that has the database file to itself: `node locking.program.js FILE`. Says when it does; ends when its input does. */
import sqlite3 from 'sqlite3';

const [file = ''] = process.argv.slice(2);
const db = new sqlite3.Database(file, () => {
  db.exec('PRAGMA busy_timeout=10000; BEGIN EXCLUSIVE;', (error) => {
    process.stdout.write(error ? `failed: ${error.message}\n` : 'locked\n');
  });
});
process.stdin.on('end', () => db.exec('ROLLBACK;', () => db.close(() => process.exit(0)))).resume();
