Lifecards.main()
