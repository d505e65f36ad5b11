import prettier from 'eslint-config-prettier'
import vue from 'eslint-plugin-vue'
import { vueTsConfigs, withVueTs } from '@vue/eslint-config-typescript'

export default withVueTs(
  { rootDir: import.meta.dirname },
  {
    ignores: [
      '.*/**',
      'out/**',
      'dist/**',
      'coverage/**',
      'resources/**',
      'cuda-kernels/**',
      'test/captures/**',
    ],
  },
  vue.configs['flat/recommended'],
  vueTsConfigs.strict,
  vueTsConfigs.recommendedTypeChecked,
  {
    files: ['**/*.ts', '**/*.vue'],
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // It takes an assertion that widens for an idle one, and its fix then breaks the types.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      // Interfaces are met by closures here, not by classes with a `this`.
      '@typescript-eslint/unbound-method': 'off',
      // A function may be asynchronous because its interface is.
      '@typescript-eslint/require-await': 'off',
      // zod's pattern: a schema and its type have one name.
      '@typescript-eslint/no-redeclare': 'off',
      // `noUncheckedIndexedAccess` asks for it after a regular expression or a length check.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-async-promise-executor': 'error',
      'no-case-declarations': 'error',
      'no-cond-assign': 'error',
      'no-constant-binary-expression': 'error',
      'no-empty': 'error',
      'no-loss-of-precision': 'error',
      'no-misleading-character-class': 'error',
      'no-self-assign': 'error',
      'no-self-compare': 'error',
      'no-unsafe-finally': 'error',
      'no-useless-catch': 'error',
      'no-useless-escape': 'error',
      'use-isnan': 'error',
      'valid-typeof': 'error',
    },
  },
  {
    files: ['src-renderer/**/*.vue'],
    rules: {
      'vue/multi-word-component-names': 'off',
      'vue/no-v-html': 'error',
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: ['test/**/*.ts', 'src-renderer/**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    rules: Object.fromEntries(
      ['argument', 'assignment', 'call', 'member-access', 'return'].map((kind) => [
        `@typescript-eslint/no-unsafe-${kind}`,
        'off',
      ]),
    ),
  },
  prettier,
)
