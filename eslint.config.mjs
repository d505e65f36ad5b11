/**
 * Vue's own rules, for what they look at: components, and modules of the UI. Everything else is checked by
 * Oxlint (.oxlintrc.json), in the scripts of components too.
 */
import prettier from 'eslint-config-prettier'
import vue from 'eslint-plugin-vue'
import typescript from 'typescript-eslint'

// No rule asks which names the language's libraries have.
const lib = []

export default [
  { ignores: ['**/*.d.ts'] },
  ...vue.configs['flat/recommended'],
  { files: ['**/*.ts'], languageOptions: { parser: typescript.parser, parserOptions: { lib } } },
  {
    files: ['**/*.vue'],
    plugins: { '@typescript-eslint': typescript.plugin },
    languageOptions: { parserOptions: { parser: typescript.parser, lib } },
    rules: {
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/multi-word-component-names': 'off',
      'vue/no-v-html': 'error',
      'vue/require-default-prop': 'off',
      // These two must know what the template uses and assigns.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      'prefer-const': 'error',
    },
  },
  prettier,
]
